/** The keys of a state: searched, filtered and sorted, one page of rows at a time. */
import { Choice, Pager, pageOf, SearchField, SortHeading } from './list-controls.js';
import { html, useMemo, useState } from './preact.js';
import { jsonText, LongText, Time } from './text.js';

/** @typedef {import('./wire.js').StateKey} StateKey */
/** @typedef {import('./list-controls.js').Sort} Sort */

const HEADINGS = { key: 'Key', value: 'Value', version: 'Version', by: 'By', when: 'When' };
const SORTABLE = ['key', 'version', 'by', 'when'];

/** @param {{ state: import('./live-state.js').LiveState, changed: ReadonlySet<string>, selected: string | null, onSelect: (key: string) => void }} props */
export function KeyTable({ state, changed, selected, onSelect }) {
  const [words, setWords] = useState('');
  const [author, setAuthor] = useState('');
  const [sort, setSort] = useState(/** @type {Sort} */ ({ by: 'key', isDown: false }));
  const [page, setPage] = useState(0);
  const authors = useMemo(
    () => [/** @type {[string, string]} */ (['', 'all']), ...[...state.authors].sort().map(pair)],
    [state, state.authors.size],
  );
  /** A new search begins at the first page. @template T @param {(value: T) => void} set @returns {(value: T) => void} */
  const fromStart = (set) => (value) => {
    set(value);
    setPage(0);
  };
  if (state.keys.size === 0) return html`<p>No key has a value.</p>`;
  const found = matching(state.keys.values(), words, author).sort(comparator(sort));
  const { rows, at, last } = pageOf(found, page);
  return html`<div class="controls" role="search" aria-label="Keys">
      <${SearchField} id="key-words" label="Search keys" value=${words} onText=${fromStart(setWords)} />
      <${Choice} id="key-author" label="Changed by" value=${author} options=${authors} onChoice=${fromStart(setAuthor)} />
    </div>
    <${Pager} total=${found.length} of=${state.keys.size} noun="key" at=${at} last=${last} onPage=${setPage} />
    <table>
    <thead><tr>
      ${Object.entries(HEADINGS).map(([name, title]) => (SORTABLE.includes(name) ? html`<${SortHeading} key=${name} name=${name} title=${title} sort=${sort} onSort=${fromStart(setSort)} />` : html`<th key=${name} scope="col">${title}</th>`))}
      <th scope="col"><span class="hidden">History</span></th></tr></thead>
    <tbody>
      ${rows.map((entry) => html`<${KeyRow} key=${entry.key} entry=${entry} isChanged=${changed.has(entry.key)} isSelected=${entry.key === selected} onSelect=${onSelect} />`)}
    </tbody>
  </table>`;
}

/** @param {string} text @returns {[string, string]} */
const pair = (text) => [text, text];

/** @param {Iterable<StateKey>} keys @param {string} words @param {string} author */
function matching(keys, words, author) {
  const wanted = words.toLowerCase();
  /** @type {StateKey[]} */
  const found = [];
  for (const entry of keys) {
    if (wanted !== '' && !entry.key.toLowerCase().includes(wanted)) continue;
    if (author === '' || entry.updated_by === author) found.push(entry);
  }
  return found;
}

/** Equal ones are in the order of their keys. @param {Sort} sort @returns {(a: StateKey, b: StateKey) => number} */
function comparator({ by, isDown }) {
  const sign = isDown ? -1 : 1;
  const get = VALUES[by] ?? VALUES.key;
  return (a, b) => sign * compare(get(a), get(b)) || compare(a.key, b.key);
}

/** @type {Readonly<Record<string, (entry: StateKey) => string | number>> & { readonly key: (entry: StateKey) => string }} */
const VALUES = {
  key: ({ key }) => key,
  version: ({ version }) => version,
  by: ({ updated_by }) => updated_by ?? '',
  when: ({ updated_at }) => updated_at,
};

/** @param {string | number} a @param {string | number} b */
function compare(a, b) {
  return a === b ? 0 : a < b ? -1 : 1;
}

/** An entry is a new object after each change, so a row without a change is not built again. @param {{ entry: StateKey, isChanged: boolean, isSelected: boolean, onSelect: (key: string) => void }} props */
function KeyRow({ entry, isChanged, isSelected, onSelect }) {
  return useMemo(
    () => html`<tr class=${isChanged ? 'changed' : ''}>
      <th scope="row" data-label="Key">${entry.key}</th>
      <td data-label="Value"><${LongText} text=${jsonText(entry.value)} /></td>
      <td data-label="Version">${entry.version}</td>
      <td data-label="By">${entry.updated_by}</td>
      <td data-label="When"><${Time} at=${entry.updated_at} /></td>
      <td><button type="button" class="small" aria-pressed=${isSelected} aria-label=${`History of ${entry.key}`} onClick=${() => onSelect(entry.key)}>History</button></td>
    </tr>`,
    [entry, isChanged, isSelected],
  );
}
