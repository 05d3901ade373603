/** Controls of long lists: search, a choice, a page of rows, sortable headings. */
import { html } from './preact.js';
import { counted } from './text.js';

/** Rows of a list that are drawn at once. */
export const ROWS_MAX = 100;

/** @template T @param {readonly T[]} rows @param {number} page from 0 */
export function pageOf(rows, page) {
  const last = Math.max(0, Math.ceil(rows.length / ROWS_MAX) - 1);
  const at = Math.min(page, last);
  return { rows: rows.slice(at * ROWS_MAX, (at + 1) * ROWS_MAX), at, last };
}

/** @param {{ total: number, of: number, noun: string, at: number, last: number, onPage: (page: number) => void }} props */
export function Pager({ total, of, noun, at, last, onPage }) {
  const from = at * ROWS_MAX + 1;
  const to = Math.min(total, from + ROWS_MAX - 1);
  const all = total === of ? counted(of, noun) : `${total.toLocaleString('en')} of ${counted(of, noun)}`;
  return html`<div class="pager">
    <span class="muted" role="status">${last === 0 ? all : `${from.toLocaleString('en')} to ${to.toLocaleString('en')} of ${all}`}</span>
    ${
      last > 0 &&
      html`<button type="button" class="small" disabled=${at === 0} onClick=${() => onPage(at - 1)}>Previous</button>
      <button type="button" class="small" disabled=${at === last} onClick=${() => onPage(at + 1)}>Next</button>`
    }
  </div>`;
}

/** @param {{ id: string, label: string, value: string, onText: (text: string) => void }} props */
export function SearchField({ id, label, value, onText }) {
  return html`<label for=${id}>${label}</label>
    <input id=${id} type="search" autocomplete="off" value=${value} onInput=${(/** @type {{ target: HTMLInputElement }} */ event) => onText(event.target.value)} />`;
}

/** @param {{ id: string, label: string, value: string, options: readonly (readonly [value: string, label: string])[], onChoice: (value: string) => void }} props */
export function Choice({ id, label, value, options, onChoice }) {
  return html`<label for=${id}>${label}</label>
    <select id=${id} value=${value} onChange=${(/** @type {{ target: HTMLSelectElement }} */ event) => onChoice(event.target.value)}>
      ${options.map(([option, text]) => html`<option key=${option} value=${option}>${text}</option>`)}
    </select>`;
}

/** @typedef {{ by: string, isDown: boolean }} Sort */

/** @param {{ name: string, title: string, sort: Sort, onSort: (sort: Sort) => void }} props */
export function SortHeading({ name, title, sort, onSort }) {
  const isOwn = sort.by === name;
  const order = isOwn ? (sort.isDown ? 'descending' : 'ascending') : 'none';
  return html`<th scope="col" aria-sort=${order}>
    <button type="button" class="sort" onClick=${() => onSort({ by: name, isDown: isOwn && !sort.isDown })}>${title}${isOwn && html`<span aria-hidden="true"> ${sort.isDown ? '↓' : '↑'}</span>`}</button>
  </th>`;
}
