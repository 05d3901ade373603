/** The durable documents of the store. */
import { segment } from './api.js';
import { useAnswer } from './loaded.js';
import { html } from './preact.js';
import { Problem, Time } from './text.js';

/** What the journal and the file of a document agree on. @param {string} file */
export function fileText(file) {
  if (file === 'in_step') return 'shows this version';
  if (file === 'edit_refused') return 'has an edit with mistakes';
  if (file === 'no_definition') return 'no definition is known';
  return file === 'adopt' ? 'was edited by a person' : file;
}

export function DocumentsView() {
  const { answer, error, reload } = useAnswer('/documents');
  const list = /** @type {import('./document-wire.js').DocumentList | null} */ (answer);
  if (error) return html`<${Problem} error=${error} />`;
  if (!list) return html`<p>Loading…</p>`;
  const { documents } = list;
  return html`<h1>Documents</h1>
    <p><button type="button" class="small" onClick=${reload}>Reload</button></p>
    ${documents.length === 0 && html`<p>No documents yet. Begin one with <code>rekindle state init task-board</code>.</p>`}
    ${
      documents.length > 0 &&
      html`<table>
        <thead><tr><th scope="col">Document</th><th scope="col">Version</th><th scope="col">Schema</th><th scope="col">By</th><th scope="col">Changed</th><th scope="col">File</th></tr></thead>
        <tbody>
          ${documents.map(
            (document) => html`<tr key=${document.name}>
              <th scope="row" data-label="Document">${document.version === null ? document.name : html`<a href=${`#/documents/${segment(document.name)}`}>${document.name}</a>`}</th>
              <td data-label="Version">${document.version ?? '–'}</td>
              <td data-label="Schema">${document.schema_version ?? '–'}</td>
              <td data-label="By">${document.updated_by ?? '–'}</td>
              <td data-label="Changed"><${Time} at=${document.updated_at} /></td>
              <td data-label="File">${fileText(document.file)}</td>
            </tr>`,
          )}
        </tbody>
      </table>`
    }`;
}
