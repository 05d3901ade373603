/** The changes of all keys of a root, newest first, by all sessions or by one. */
import { get, segment } from './api.js';
import { Choice } from './list-controls.js';
import { oneAtATime } from './one-at-a-time.js';
import { html, useEffect, useMemo, useState } from './preact.js';
import { jsonText, LongText, Problem, Time } from './text.js';

/** @typedef {import('./wire.js').StateEvent} StateEvent */
/** @typedef {import('./wire.js').KeyHistory} Changes */

/** Changes that are loaded at once. */
const PAGE = 50;

/** @param {{ id: string, version: number, authors: ReadonlySet<string>, onClose: () => void }} props */
export function ChangeList({ id, version, authors, onClose }) {
  const [author, setAuthor] = useState('');
  const [listed, setListed] = useState(/** @type {ReadonlySet<string>} */ (new Set()));
  const options = useMemo(() => {
    const names = [...new Set([...authors, ...listed])].sort();
    return [
      /** @type {[string, string]} */ (['', 'all']),
      ...names.map((name) => /** @type {[string, string]} */ ([name, name])),
    ];
  }, [authors, authors.size, listed]);
  // Those whose values are gone are known from their changes only.
  const note = (/** @type {readonly StateEvent[]} */ changes) =>
    setListed((before) => withAuthors(before, changes));
  return html`<section class="panel" aria-label="All changes">
    <h2>All changes</h2>
    <button type="button" class="close" onClick=${onClose}>Close</button>
    <div class="controls"><${Choice} id="change-author" label="Made by" value=${author} options=${options} onChoice=${setAuthor} /></div>
    <${Rows} key=${author} id=${id} version=${version} author=${author} onChanges=${note} />
  </section>`;
}

/** @param {StateEvent} change */
function authorOf({ updated_by, deleted_by }) {
  return updated_by ?? deleted_by ?? '';
}

/** The same set if there is nobody new. @param {ReadonlySet<string>} before @param {readonly StateEvent[]} changes */
function withAuthors(before, changes) {
  const all = new Set([...before, ...changes.map(authorOf)]);
  return all.size === before.size ? before : all;
}

/** @param {{ id: string, version: number, author: string, onChanges: (changes: readonly StateEvent[]) => void }} props */
function Rows({ id, version, author, onChanges }) {
  const [list, setList] = useState(/** @type {Changes | null} */ (null));
  const [error, setError] = useState(/** @type {Error | null} */ (null));
  const base = `/sessions/${segment(id)}/state/changes?limit=${PAGE}${author === '' ? '' : `&session=${segment(author)}`}`;
  const loadNewest = useMemo(
    () => oneAtATime(() => get(base).then((page) => setList((before) => withNewest(before, page)), setError)),
    [],
  );
  useEffect(() => void loadNewest(), [version]);
  useEffect(() => onChanges(list?.changes ?? []), [list]);
  const loadOlder = () => {
    const last = list?.changes.at(-1);
    if (last)
      get(`${base}&before=${last.global_version}`).then(
        (page) => setList((before) => before && withOlder(before, page)),
        setError,
      );
  };
  if (error) return html`<${Problem} error=${error} />`;
  if (!list) return html`<p>Loading…</p>`;
  if (list.changes.length === 0) return html`<p>No changes found.</p>`;
  return html`<table class="changes">
      <thead><tr><th scope="col">Number</th><th scope="col">Key</th><th scope="col">Change</th><th scope="col">Value after it</th><th scope="col">By</th><th scope="col">When</th></tr></thead>
      <tbody>${list.changes.map((change) => html`<${Row} key=${change.global_version} change=${change} />`)}</tbody>
    </table>
    ${list.has_more && html`<button type="button" onClick=${loadOlder}>Older changes</button>`}`;
}

/** @param {{ change: StateEvent }} props */
function Row({ change }) {
  return useMemo(
    () => html`<tr>
      <td data-label="Number">${change.global_version}</td>
      <th scope="row" data-label="Key">${change.key}</th>
      <td data-label="Change">${change.op}, version ${change.version}</td>
      <td data-label="Value after it"><${LongText} text=${jsonText(change.value)} /></td>
      <td data-label="By">${authorOf(change)}</td>
      <td data-label="When"><${Time} at=${change.timestamp} /></td>
    </tr>`,
    [change.global_version],
  );
}

/**
 * Older ones stay if the new page reaches them: a gap between would not be seen. @param {Changes | null} before
 * @param {Changes} page @returns {Changes}
 */
function withNewest(before, page) {
  const last = page.changes.at(-1);
  if (!before || !last || !before.changes.some((one) => one.global_version === last.global_version))
    return page;
  const older = before.changes.filter((one) => one.global_version < last.global_version);
  return { ...(older.length === 0 ? page : before), changes: [...page.changes, ...older] };
}

/** @param {Changes} before @param {Changes} page @returns {Changes} */
function withOlder(before, page) {
  const last = before.changes.at(-1)?.global_version ?? 0;
  const older = page.changes.filter((one) => one.global_version < last);
  return { ...page, changes: [...before.changes, ...older] };
}
