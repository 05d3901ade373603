/** The whole state at two global versions: the keys that were added, removed and changed, with both values. */
import { asError, get, segment } from './api.js';
import { DiffView } from './diff-view.js';
import { Choice, Pager, pageOf } from './list-controls.js';
import { html, useEffect, useMemo, useRef, useState } from './preact.js';
import { counted, jsonText, Problem } from './text.js';

/** @typedef {import('./wire.js').StateView} StateView */
/** @typedef {'added' | 'removed' | 'changed'} Kind */
/** @typedef {{ key: string, kind: Kind, before: string, after: string }} Difference */
/** @typedef {{ from: number, to: number, all: readonly Difference[] }} Compared */
/** `inside`: a chosen version is in the middle of a commit. @typedef {Compared & { inside: boolean }} Comparison */

/** Longer differences open with a button, because a page of rows could have 100 large values. */
const OPEN_CHARACTERS = 2_000;
const OPEN_LINES = 60;

/** @param {{ id: string, oldest: number, newest: number, start: number, onClose: () => void }} props */
export function StateComparison({ id, oldest, newest, start, onClose }) {
  const [comparison, setComparison] = useState(/** @type {Comparison | null} */ (null));
  const [error, setError] = useState(/** @type {Error | null} */ (null));
  const [first] = useState({ from: start, to: newest }); // changes that come do not move the chosen versions
  const asks = useRef(0);
  const compare = async (/** @type {number} */ from, /** @type {number} */ to) => {
    asks.current += 1;
    const own = asks.current;
    try {
      const [before, after] = await Promise.all([stateAt(id, from), stateAt(id, to)]);
      if (own !== asks.current) return;
      const inside = before.global_version !== from || after.global_version !== to;
      setComparison({ ...compared(before, after), inside });
      setError(null);
    } catch (thrown) {
      if (own === asks.current) setError(asError(thrown));
    }
  };
  useEffect(() => {
    void compare(first.from, first.to);
    return () => {
      asks.current += 1;
    };
  }, []);
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    void compare(chosen('compare-from'), chosen('compare-to'));
  };
  const field = (/** @type {string} */ name, /** @type {string} */ label, /** @type {number} */ value) =>
    html`<label for=${name}>${label}</label>
      <input id=${name} type="number" required min=${oldest} max=${newest} step="1" defaultValue=${value} />`;
  return html`<section class="panel" aria-label="Compare two versions">
    <h2>Compare two versions</h2>
    <button type="button" class="close" onClick=${onClose}>Close</button>
    <form class="controls" onSubmit=${submit}>
      ${field('compare-from', 'From version', first.from)} ${field('compare-to', 'To version', first.to)}
      <button type="submit">Compare</button></form>
    ${error && html`<${Problem} error=${error} />`}
    ${!comparison && !error && html`<p>Comparing…</p>`}
    ${comparison && html`<${Differences} key=${`${comparison.from} ${comparison.to}`} comparison=${comparison} />`}
  </section>`;
}

/** @param {string} field */
function chosen(field) {
  return Number(/** @type {HTMLInputElement} */ (document.getElementById(field)).value);
}

/** @param {string} id @param {number} version @returns {Promise<StateView>} */
function stateAt(id, version) {
  return get(`/sessions/${segment(id)}/state?at_sequence=${version}`);
}

/**
 * Sorted by key. A version of a key is never used twice, so equal versions have equal values, and only the others
 * are compared. @param {StateView} from @param {StateView} to @returns {Compared}
 */
function compared(from, to) {
  const before = new Map(Object.entries(from.keys));
  const after = new Map(Object.entries(to.keys));
  /** @type {Difference[]} */
  const all = [];
  for (const [key, entry] of after) {
    const old = before.get(key);
    if (old?.version === entry.version) continue;
    const texts = { before: jsonText(old?.value), after: jsonText(entry.value) };
    if (texts.before !== texts.after) all.push({ key, kind: old ? 'changed' : 'added', ...texts });
  }
  for (const [key, { value }] of before)
    if (!after.has(key)) all.push({ key, kind: 'removed', before: jsonText(value), after: '' });
  all.sort((a, b) => (a.key < b.key ? -1 : 1));
  return { from: from.global_version, to: to.global_version, all };
}

/** @type {readonly Kind[]} */
const KINDS = ['added', 'removed', 'changed'];
const OPTIONS = ['all', ...KINDS].map((kind) => /** @type {[string, string]} */ ([kind, kind]));

/** @param {{ comparison: Comparison }} props */
function Differences({ comparison: { from, to, all, inside } }) {
  const [kind, setKind] = useState('all');
  const [page, setPage] = useState(0);
  const found = useMemo(() => all.filter((one) => kind === 'all' || one.kind === kind), [all, kind]);
  const { rows, at, last } = pageOf(found, page);
  const count = (/** @type {Kind} */ of) => all.filter((one) => one.kind === of).length;
  const show = (/** @type {string} */ of) => {
    setKind(of);
    setPage(0);
  };
  const told = useMemo(() => KINDS.map((of) => `${counted(count(of), 'key')} ${of}`).join(', '), [all]);
  return html`<h3>From version ${from} to ${to}</h3>
    ${inside && html`<p class="muted">A chosen version is in the middle of a commit. The state before that commit is shown.</p>`}
    ${
      all.length === 0
        ? html`<p role="status">No difference.</p>`
        : html`<p role="status">${told}</p>
      <div class="controls"><${Choice} id="difference-kind" label="Show" value=${kind} options=${OPTIONS} onChoice=${show} /></div>
      <${Pager} total=${found.length} of=${all.length} noun="key" at=${at} last=${last} onPage=${setPage} />
      <table class="differences">
        <thead><tr><th scope="col">Key</th><th scope="col">Change</th><th scope="col">Difference</th></tr></thead>
        <tbody>${rows.map((one) => html`<${Row} key=${one.key} difference=${one} />`)}</tbody>
      </table>`
    }`;
}

/** @param {{ difference: Difference }} props */
function Row({ difference }) {
  const { key, kind, before, after } = difference;
  const [isAsked, setAsked] = useState(false);
  return useMemo(() => {
    const characters = before.length + after.length;
    const isShown = isAsked || (characters <= OPEN_CHARACTERS && lines(before) + lines(after) <= OPEN_LINES);
    return html`<tr>
      <th scope="row" data-label="Key">${key}</th>
      <td data-label="Change">${kind}</td>
      <td data-label="Difference">${
        isShown
          ? html`<${DiffView} before=${before} after=${after} />`
          : html`<button type="button" class="small" aria-label=${`Show the difference of ${key}`} onClick=${() => setAsked(true)}>Show all ${counted(characters, 'character')}</button>`
      }</td>
    </tr>`;
  }, [difference, isAsked]);
}

/** @param {string} text */
function lines(text) {
  return text.split('\n').length;
}
