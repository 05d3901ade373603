/** The entries of one workspace, who wrote them, and who reads them. */
import { segment } from './api.js';
import { Pager, pageOf, SearchField } from './list-controls.js';
import { useAnswer } from './loaded.js';
import { html, useState } from './preact.js';
import { bytes, counted, Problem, Time } from './text.js';
import { workspaceName } from './workspaces-view.js';

/** @typedef {import('./workspace-wire.js').EntryList} EntryList */
/** @typedef {import('./workspace-wire.js').Readers} ReaderList */

/** @param {{ id: string }} props */
export function WorkspaceView({ id }) {
  const { answer, error, reload } = useAnswer(`/workspaces/${segment(id)}/entries?deleted=true&limit=10000`);
  const list = /** @type {EntryList | null} */ (answer);
  const [words, setWords] = useState('');
  const [at, setAt] = useState(0);
  if (error) return html`<p><a href="#/workspaces">All workspaces</a></p><${Problem} error=${error} />`;
  if (!list) return html`<p>Loading…</p>`;
  const wanted = words.toLowerCase();
  const found = list.entries.filter(({ key, written_by: by }) =>
    `${key}\n${by}`.toLowerCase().includes(wanted),
  );
  const page = pageOf(found, at);
  const search = (/** @type {string} */ text) => {
    setWords(text);
    setAt(0);
  };
  return html`<p><a href="#/workspaces">All workspaces</a></p>
    <h1>${workspaceName(id)}</h1>
    <p>${counted(list.total, 'key')}, ${counted(list.writes, 'write')} by ${list.agents.map(({ agent, writes }) => `${agent} (${writes})`).join(', ') || 'nobody'} <button type="button" class="small" onClick=${reload}>Reload</button></p>
    <div class="controls"><${SearchField} id="entry-words" label="Key or author" value=${words} onText=${search} /></div>
    ${list.total === 0 && html`<p>No entries yet. Agents write them with <code>write_to_workspace</code>, people with <code>rekindle workspace write</code>.</p>`}
    ${
      found.length > 0 &&
      html`<table>
        <thead><tr><th scope="col">Entry</th><th scope="col">Version</th><th scope="col">Size</th><th scope="col">By</th><th scope="col">Written</th></tr></thead>
        <tbody>${page.rows.map(
          (entry) => html`<tr key=${entry.key}>
            <th scope="row" data-label="Entry"><a href=${`#/workspaces/${segment(id)}/${segment(entry.key)}`}>${entry.key}</a>${entry.deleted && html` <span class="muted">deleted</span>`}</th>
            <td data-label="Version">${entry.version}</td>
            <td data-label="Size">${entry.deleted ? '–' : bytes(entry.size_bytes)}</td>
            <td data-label="By">${entry.written_by}</td>
            <td data-label="Written"><${Time} at=${entry.written_at} /></td>
          </tr>`,
        )}</tbody>
      </table>
      <${Pager} total=${found.length} of=${list.entries.length} noun="row" at=${page.at} last=${page.last} onPage=${setAt} />`
    }
    <${Readers} />`;
}

/** From the tool-call log, which all workspaces of the store share. */
function Readers() {
  const { answer, error } = useAnswer('/workspace/readers');
  const list = /** @type {ReaderList | null} */ (answer);
  if (error) return html`<${Problem} error=${error} />`;
  if (!list) return html`<p>Loading who reads what…</p>`;
  return html`<section aria-label="Who reads what"><h2>Who reads what</h2>
    <p class="muted">From the newest calls of the tool-call log, of every workspace.</p>
    ${list.readers.length === 0 && html`<p>No logged call has read an entry.</p>`}
    ${
      list.readers.length > 0 &&
      html`<table>
        <thead><tr><th scope="col">Agent</th><th scope="col">Entry</th><th scope="col">Reads</th><th scope="col">Last</th></tr></thead>
        <tbody>${list.readers.map(
          ({ agent, key, reads, last_read_at: last }) => html`<tr key=${`${agent} ${key}`}>
            <th scope="row" data-label="Agent">${agent}</th>
            <td data-label="Entry">${key ?? html`<span class="muted">all that it may see</span>`}</td>
            <td data-label="Reads">${reads}</td>
            <td data-label="Last"><${Time} at=${last} /></td>
          </tr>`,
        )}</tbody>
      </table>`
    }</section>`;
}
