/** The tool-call log, newest first, with a search. */
import { asError, get, segment } from './api.js';
import { Choice, SearchField } from './list-controls.js';
import { html, useEffect, useRef, useState } from './preact.js';
import { counted, jsonText, LongText, Problem, Time } from './text.js';

/** @typedef {import('./workspace-wire.js').ToolCall} ToolCall */

const PAGE = 50;
const MAX = 500;
/** A search waits so long for the next letter, in ms. */
const PAUSE_MS = 250;
const STATUSES = /** @type {const} */ ([
  ['', 'all'],
  ['ok', 'succeeded'],
  ['error', 'failed'],
]);

export function ToolCalls() {
  const [wanted, setWanted] = useState({ text: '', tool: '', agent: '', status: '', limit: PAGE });
  const [calls, setCalls] = useState(/** @type {readonly ToolCall[] | null} */ (null));
  const [error, setError] = useState(/** @type {Error | null} */ (null));
  const asks = useRef(0);
  const load = async () => {
    asks.current += 1;
    const own = asks.current;
    const filters = Object.entries(wanted).filter(([, value]) => value !== '');
    const query = filters.map(([name, value]) => `${name}=${segment(String(value))}`).join('&');
    try {
      const page = await get(`/workspace/calls?${query}`);
      if (own === asks.current) setCalls(page.calls); // else a newer search was started
      setError(null);
    } catch (thrown) {
      if (own === asks.current) setError(asError(thrown));
    }
  };
  useEffect(() => {
    const timer = setTimeout(load, calls === null ? 0 : PAUSE_MS);
    return () => clearTimeout(timer);
  }, [wanted]);
  const change = (/** @type {Partial<typeof wanted>} */ part) =>
    setWanted({ ...wanted, limit: PAGE, ...part });
  return html`<section aria-label="Tool calls"><h2>Tool calls</h2>
    <div class="controls">
      <${SearchField} id="call-text" label="Text" value=${wanted.text} onText=${(/** @type {string} */ text) => change({ text })} />
      <${SearchField} id="call-tool" label="Tool" value=${wanted.tool} onText=${(/** @type {string} */ tool) => change({ tool })} />
      <${SearchField} id="call-agent" label="Agent" value=${wanted.agent} onText=${(/** @type {string} */ agent) => change({ agent })} />
      <${Choice} id="call-status" label="Outcome" value=${wanted.status} options=${STATUSES} onChoice=${(/** @type {string} */ status) => change({ status })} />
      <button type="button" class="small" onClick=${load}>Reload</button>
    </div>
    ${error && html`<${Problem} error=${error} />`}
    <p class="muted" role="status">${calls && (calls.length === 0 ? 'No such calls in the log.' : `${counted(calls.length, 'call')}, newest first`)}</p>
    ${calls && calls.length > 0 && html`<${Rows} calls=${calls} />`}
    ${calls && calls.length === wanted.limit && wanted.limit < MAX && html`<button type="button" onClick=${() => change({ limit: Math.min(MAX, wanted.limit * 2) })}>More calls</button>`}
  </section>`;
}

/** @param {{ calls: readonly ToolCall[] }} props */
function Rows({ calls }) {
  return html`<table class="history">
    <thead><tr><th scope="col">Tool</th><th scope="col">Agent</th><th scope="col">When</th><th scope="col">Took</th><th scope="col">Outcome</th><th scope="col">Input</th><th scope="col">Output</th></tr></thead>
    <tbody>${calls.map(
      (call) => html`<tr key=${`${call.agent} ${call.call_id} ${call.started_at}`}>
        <th scope="row" data-label="Tool">${call.tool}</th>
        <td data-label="Agent">${call.agent}${call.session !== null && html` <span class="muted">${call.session}</span>`}</td>
        <td data-label="When"><${Time} at=${call.started_at} /></td>
        <td data-label="Took">${Math.round(call.duration_ms).toLocaleString('en')} ms</td>
        <td data-label="Outcome"><span class=${call.status === 'ok' ? 'status finished' : 'status failed'}>${call.status}</span></td>
        <td data-label="Input"><${Value} value=${call.input} at=${call.input_ref} /></td>
        <td data-label="Output">${call.error === null ? html`<${Value} value=${call.output} at=${call.output_ref} />` : html`<${LongText} text=${call.error} />`}</td>
      </tr>`,
    )}</tbody>
  </table>`;
}

/** Large values are loaded when they are asked for. @param {{ value: unknown, at: string | null }} props */
function Value({ value, at }) {
  const [text, setText] = useState(/** @type {string | null} */ (null));
  const [error, setError] = useState(/** @type {Error | null} */ (null));
  if (error) return html`<${Problem} error=${error} />`;
  if (at === null) return html`<${LongText} text=${jsonText(value)} />`;
  if (text !== null) return html`<${LongText} text=${text} />`;
  const load = () => get(`/workspace/values/${segment(at)}`).then((found) => setText(found.text), setError);
  return html`<button type="button" class="small" onClick=${load}>Load a large value</button>`;
}
