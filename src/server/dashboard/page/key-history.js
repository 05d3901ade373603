/** The changes of one key, and the difference between two versions. */
import { get, segment } from './api.js';
import { DiffView } from './diff-view.js';
import { oneAtATime } from './one-at-a-time.js';
import { html, useEffect, useMemo, useRef, useState } from './preact.js';
import { jsonText, Problem, Time } from './text.js';

/** @param {{ id: string, name: string, version: number, onClose: () => void }} props */
export function KeyHistory({ id, name, version, onClose }) {
  const [history, setHistory] = useState(/** @type {import('./wire.js').KeyHistory | null} */ (null));
  const [error, setError] = useState(/** @type {Error | null} */ (null));
  const [chosen, setChosen] = useState(
    /** @type {{ from: number | null, to: number | null }} */ ({ from: null, to: null }),
  );
  const heading = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => heading.current?.focus(), []);
  const load = useMemo(
    () =>
      oneAtATime(() =>
        get(`/sessions/${segment(id)}/state/keys/${segment(name)}/history?limit=200`).then(
          setHistory,
          setError,
        ),
      ),
    [],
  );
  useEffect(() => void load(), [version]);
  if (error) return html`<${Problem} error=${error} />`;
  const changes = history?.changes ?? [];
  const to = changes.find((change) => change.version === chosen.to) ?? changes[0];
  const from = changes.find((change) => change.version === chosen.from) ?? changes[1];
  return html`<section class="panel" aria-label=${`History of ${name}`}>
    <h2 tabindex="-1" ref=${heading}>History of <span class="name">${name}</span></h2>
    <button type="button" class="close" onClick=${onClose}>Close</button>
    ${!history && html`<p>Loading…</p>`}
    ${history && !history.complete && html`<p class="muted">Older changes were deleted, or are not listed.</p>`}
    <table class="history">
      <thead><tr><th scope="col">From</th><th scope="col">To</th><th scope="col">Version</th><th scope="col">Change</th><th scope="col">By</th><th scope="col">When</th></tr></thead>
      <tbody>
        ${changes.map(
          (change) => html`<tr key=${change.version}>
            <td data-label="From"><input type="radio" name="from" aria-label=${`Compare from version ${change.version}`} checked=${change === from} onChange=${() => setChosen({ ...chosen, from: change.version })} /></td>
            <td data-label="To"><input type="radio" name="to" aria-label=${`Compare to version ${change.version}`} checked=${change === to} onChange=${() => setChosen({ ...chosen, to: change.version })} /></td>
            <td data-label="Version">${change.version}</td>
            <td data-label="Change">${change.op}</td>
            <td data-label="By">${change.updated_by ?? change.deleted_by}</td>
            <td data-label="When"><${Time} at=${change.timestamp} /></td>
          </tr>`,
        )}
      </tbody>
    </table>
    ${to && html`<${Difference} from=${from} to=${to} />`}
  </section>`;
}

/** @param {{ from: import('./wire.js').StateEvent | undefined, to: import('./wire.js').StateEvent }} props */
function Difference({ from, to }) {
  return html`<h3>${from ? `From version ${from.version} to ${to.version}` : `Version ${to.version}`}</h3>
    <${DiffView} before=${jsonText(from?.value)} after=${jsonText(to.value)} />`;
}
