/** One durable document: its value, its history, and the difference between two versions. */
import { get, segment } from './api.js';
import { DiffView } from './diff-view.js';
import { fileText } from './documents-view.js';
import { html, useEffect, useState } from './preact.js';
import { jsonText, Problem, Time } from './text.js';

const PAGE = 50;

/** @param {{ id: string }} props */
export function DocumentView({ id }) {
  const address = `/documents/${segment(id)}`;
  const [document, setDocument] = useState(
    /** @type {import('./document-wire.js').StateDocument | null} */ (null),
  );
  const [history, setHistory] = useState(
    /** @type {import('./document-wire.js').DocumentHistory | null} */ (null),
  );
  const [chosen, setChosen] = useState(/** @type {number | null} */ (null));
  const [error, setError] = useState(/** @type {Error | null} */ (null));
  const load = () =>
    Promise.all([get(address), get(`${address}/history?limit=${PAGE}`)]).then(([newest, events]) => {
      setDocument(newest);
      setHistory(events);
    }, setError);
  const older = () =>
    get(`${address}/history?limit=${PAGE}&before=${history?.before}`).then(
      (next) => setHistory({ ...next, events: [...(history?.events ?? []), ...next.events] }),
      setError,
    );
  useEffect(() => void load(), []);
  if (error) return html`<${Problem} error=${error} />`;
  if (!document || !history) return html`<p>Loading…</p>`;
  const { version, updated_by, updated_at, why, value, file, problems = [] } = document;
  return html`<h1><span class="name">${id}</span></h1>
    <p>Version ${version} by ${updated_by}, <${Time} at=${updated_at} />${why && `: ${why}`}. The file ${fileText(file ?? '')}.
      <button type="button" class="small" onClick=${load}>Reload</button></p>
    ${problems.map(({ line, column, path, message }, index) => html`<p key=${index} class="warn">Line ${line}, column ${column}: ${path} ${message}</p>`)}
    <pre>${jsonText(value)}</pre>
    <h2>History</h2>
    <table class="history">
      <thead><tr><th scope="col">Version</th><th scope="col">Change</th><th scope="col">By</th><th scope="col">Reason</th><th scope="col">When</th><th scope="col">Difference</th></tr></thead>
      <tbody>
        ${history.events.map(
          (event) => html`<tr key=${event.version}>
            <td data-label="Version">${event.version}</td>
            <td data-label="Change">${event.event}</td>
            <td data-label="By">${event.updated_by}</td>
            <td data-label="Reason">${event.why ?? ''}</td>
            <td data-label="When"><${Time} at=${event.updated_at} /></td>
            <td data-label="Difference"><button type="button" class="small" aria-expanded=${chosen === event.version} onClick=${() => setChosen(chosen === event.version ? null : event.version)}>Show</button></td>
          </tr>`,
        )}
      </tbody>
    </table>
    ${history.before !== null && html`<p><button type="button" onClick=${older}>Older</button></p>`}
    ${chosen !== null && html`<${Difference} key=${chosen} address=${address} version=${chosen} />`}`;
}

/** What a version changed. @param {{ address: string, version: number }} props */
function Difference({ address, version }) {
  const [texts, setTexts] = useState(/** @type {readonly [string, string] | null} */ (null));
  const [error, setError] = useState(/** @type {Error | null} */ (null));
  useEffect(() => {
    const before = version === 1 ? Promise.resolve(null) : get(`${address}?at=${version - 1}`);
    Promise.all([before, get(`${address}?at=${version}`)]).then(
      ([from, to]) => setTexts([jsonText(from?.value), jsonText(to.value)]),
      setError,
    );
  }, []);
  if (error) return html`<${Problem} error=${error} />`;
  if (!texts) return html`<p>Comparing…</p>`;
  return html`<section class="panel" aria-label=${`Version ${version}`}><h3>Version ${version}</h3>
    <${DiffView} before=${texts[0]} after=${texts[1]} /></section>`;
}
