/** One entry of a workspace: its value, its versions, and the difference between two of them. */
import { get, segment } from './api.js';
import { DiffView } from './diff-view.js';
import { useAnswer } from './loaded.js';
import { html, useEffect, useState } from './preact.js';
import { jsonText, LongText, Problem, Time } from './text.js';
import { workspaceName } from './workspaces-view.js';

/** @typedef {import('./workspace-wire.js').EntryHistory} EntryHistory */
/** @typedef {import('./workspace-wire.js').EntryVersion} EntryVersion */

/** @param {{ workspace: string, entry: string }} props */
export function EntryView({ workspace, entry }) {
  const address = `/workspaces/${segment(workspace)}/entries/${segment(entry)}`;
  const history = useAnswer(`${address}/history?limit=500`);
  const newest = useAnswer(address);
  const [chosen, setChosen] = useState(
    /** @type {{ from: number | null, to: number | null }} */ ({ from: null, to: null }),
  );
  const versions = /** @type {EntryHistory | null} */ (history.answer)?.versions;
  const current = /** @type {EntryVersion | null} */ (newest.answer);
  const error = history.error ?? newest.error;
  const back = html`<p><a href="#/workspaces">All workspaces</a> · <a href=${`#/workspaces/${segment(workspace)}`}>${workspaceName(workspace)}</a></p>`;
  if (error) return html`${back}<${Problem} error=${error} />`;
  if (!versions || !current) return html`<p>Loading…</p>`;
  const reload = () => {
    history.reload();
    newest.reload();
  };
  const to = chosen.to ?? versions[0]?.version ?? null;
  const from = chosen.from ?? versions[1]?.version ?? null;
  return html`${back}
    <h1><span class="name">${entry}</span></h1>
    <p>Version ${current.version} by ${current.written_by}, <${Time} at=${current.written_at} />${current.event === 'delete' && ': deleted'}.
      <button type="button" class="small" onClick=${reload}>Reload</button></p>
    ${current.event !== 'delete' && html`<${LongText} text=${jsonText(current.value)} />`}
    <h2>Versions</h2>
    <table class="history">
      <thead><tr><th scope="col">From</th><th scope="col">To</th><th scope="col">Version</th><th scope="col">Change</th><th scope="col">By</th><th scope="col">When</th></tr></thead>
      <tbody>${versions.map(
        ({ version, event, from: restored, written_by: by, written_at: at }) => html`<tr key=${version}>
          <td data-label="From"><input type="radio" name="from" aria-label=${`Compare from version ${version}`} checked=${version === from} onChange=${() => setChosen({ ...chosen, from: version })} /></td>
          <td data-label="To"><input type="radio" name="to" aria-label=${`Compare to version ${version}`} checked=${version === to} onChange=${() => setChosen({ ...chosen, to: version })} /></td>
          <th scope="row" data-label="Version">${version}</th>
          <td data-label="Change">${event === 'rollback' ? `back to ${restored}` : event}</td>
          <td data-label="By">${by}</td>
          <td data-label="When"><${Time} at=${at} /></td>
        </tr>`,
      )}</tbody>
    </table>
    ${from !== null && to !== null && from !== to && html`<${Difference} key=${`${from} ${to}`} address=${address} from=${from} to=${to} />`}`;
}

/** @param {{ address: string, from: number, to: number }} props */
function Difference({ address, from, to }) {
  const [texts, setTexts] = useState(/** @type {readonly [string, string] | null} */ (null));
  const [error, setError] = useState(/** @type {Error | null} */ (null));
  useEffect(() => {
    Promise.all([get(`${address}?version=${from}`), get(`${address}?version=${to}`)]).then(
      ([before, after]) => setTexts([jsonText(before.value), jsonText(after.value)]),
      setError,
    );
  }, []);
  if (error) return html`<${Problem} error=${error} />`;
  if (!texts) return html`<p>Comparing…</p>`;
  return html`<section class="panel" aria-label="Difference"><h2>From version ${from} to version ${to}</h2>
    <${DiffView} before=${texts[0]} after=${texts[1]} /></section>`;
}
