/** The session tree. */
import { segment } from './api.js';
import { Choice, Pager, pageOf, SearchField } from './list-controls.js';
import { useSessionAnswers } from './loaded.js';
import { html, useMemo, useState } from './preact.js';
import { sessionRows } from './session-rows.js';
import { Problem, Status, Time } from './text.js';

/** @typedef {import('./wire.js').Session} Session */
/** @typedef {import('./wire.js').Orphan} Orphan */

/** @param {{ live: import('./live.js').Live }} props */
export function SessionsView({ live }) {
  const { answers, error } = useSessionAnswers(live, ['/sessions', '/orphans']);
  const orphans = useMemo(
    () => new Map(answers?.[1].orphans.map((/** @type {Orphan} */ orphan) => [orphan.session.id, orphan])),
    [answers],
  );
  if (error) return html`<${Problem} error=${error} />`;
  if (!answers) return html`<p>Loading…</p>`;
  const sessions = /** @type {readonly Session[]} */ (answers[0].sessions);
  return html`<h1>Sessions</h1>
    ${sessions.length === 0 ? html`<p>No sessions yet. Create one with <code>rekindle session create</code> or <code>POST /sessions</code>.</p>` : html`<${Tree} sessions=${sessions} orphans=${orphans} />`}`;
}

const STATUSES = ['pending', 'running', 'idle', 'stopping', 'finished', 'stopped', 'failed'];
/** @type {readonly (readonly [string, string])[]} */
const STATUS_OPTIONS = [['', 'all'], ...STATUSES.map((status) => /** @type {const} */ ([status, status]))];
/** @type {readonly (readonly [string, string])[]} */
const SORT_OPTIONS = [
  ['created', 'creation'],
  ['id', 'id'],
  ['status', 'status'],
  ['updated', 'last change'],
];

/** @param {{ sessions: readonly Session[], orphans: ReadonlyMap<string, Orphan> }} props */
function Tree({ sessions, orphans }) {
  const [words, setWords] = useState('');
  const [status, setStatus] = useState('');
  const [sort, setSort] = useState('created');
  const [collapsed, setCollapsed] = useState(/** @type {ReadonlySet<string>} */ (new Set()));
  const [page, setPage] = useState(0);
  const { rows, found } = useMemo(
    () => sessionRows(sessions, { words, status, sort, collapsed }),
    [sessions, words, status, sort, collapsed],
  );
  /** @param {(value: string) => void} set @returns {(value: string) => void} */
  const fromStart = (set) => (value) => {
    set(value);
    setPage(0);
  };
  const toggle = (/** @type {string} */ id) =>
    setCollapsed((before) => (before.has(id) ? without(before, id) : new Set([...before, id])));
  const parents = () => new Set(sessions.map(({ parent }) => parent).filter((id) => id !== null));
  const shown = pageOf(rows, page);
  return html`<div class="controls" role="search" aria-label="Sessions">
      <${SearchField} id="session-words" label="Search sessions" value=${words} onText=${fromStart(setWords)} />
      <${Choice} id="session-status" label="Status" value=${status} options=${STATUS_OPTIONS} onChoice=${fromStart(setStatus)} />
      <${Choice} id="session-sort" label="Order by" value=${sort} options=${SORT_OPTIONS} onChoice=${fromStart(setSort)} />
      <button type="button" class="small" onClick=${() => setCollapsed(parents())}>Collapse all</button>
      <button type="button" class="small" onClick=${() => setCollapsed(new Set())}>Expand all</button>
    </div>
    <p class="muted" role="status">${found === sessions.length ? '' : `${found.toLocaleString('en')} found, with those above them`}</p>
    <${Pager} total=${rows.length} of=${sessions.length} noun="session" at=${shown.at} last=${shown.last} onPage=${setPage} />
    <ul class="tree">
      ${shown.rows.map((row) => html`<${Row} key=${row.session.id} row=${row} orphan=${orphans.get(row.session.id)} onToggle=${toggle} />`)}
    </ul>`;
}

/** @param {ReadonlySet<string>} set @param {string} id */
function without(set, id) {
  return new Set([...set].filter((one) => one !== id));
}

/** Deeper rows are not indented further. */
const DEPTH_MAX = 12;

/** @param {{ row: import('./session-rows.js').SessionRow, orphan: Orphan | undefined, onToggle: (id: string) => void }} props */
function Row({ row, orphan, onToggle }) {
  const { session, depth, children, isCollapsed, isMatch } = row;
  const { id, status, agent, why, updated_at } = session;
  return html`<li aria-level=${depth + 1} class=${isMatch ? null : 'above'} style=${{ paddingLeft: `${Math.min(depth, DEPTH_MAX) * 1.4}rem` }}>
    ${children > 0 ? html`<button type="button" class="toggle" aria-expanded=${!isCollapsed} aria-label=${`Sessions below ${id}`} onClick=${() => onToggle(id)}>${isCollapsed ? '▸' : '▾'}</button>` : html`<span class="toggle"></span>`}
    <a href=${`#/sessions/${segment(id)}`}>${id}</a> <${Status} status=${status} />
    ${agent && html` <span class="muted">agent ${agent}</span>`}
    ${why && html` <span class="muted">${why}</span>`}
    ${isCollapsed && html` <span class="muted">${children} below</span>`}
    ${orphan && html` <strong class="warn">orphan: ${orphan.reason === 'parent_ended' ? `${orphan.ancestor} has ended` : `${orphan.ancestor} is missing`}</strong>`}
    <span class="muted"> <${Time} at=${updated_at} /></span>
  </li>`;
}
