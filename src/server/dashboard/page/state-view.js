/** The state of a session: keys and values, live, or at an earlier version chosen with a slider. */
import { asError, get, segment } from './api.js';
import { ChangeList } from './change-list.js';
import { KeyHistory } from './key-history.js';
import { KeyTable } from './key-table.js';
import { LiveState } from './live-state.js';
import { html, useEffect, useRef, useState } from './preact.js';
import { useRedraw } from './redraw.js';
import { SessionAbout } from './session-about.js';
import { StateComparison } from './state-comparison.js';
import { Problem } from './text.js';

/** @type {ReadonlySet<string>} */
const NONE = new Set();

/** @param {{ id: string, live: import('./live.js').Live }} props */
export function StateView({ id, live }) {
  const [state, setState] = useState(/** @type {LiveState | null} */ (null));
  const [past, setPast] = useState(/** @type {LiveState | null} */ (null));
  const [selected, setSelected] = useState(/** @type {string | null} */ (null));
  const [isListing, setListing] = useState(false);
  const [isComparing, setComparing] = useState(false);
  const [error, setError] = useState(/** @type {Error | null} */ (null));
  const redraw = useRedraw();
  useEffect(() => {
    let isOver = false;
    let off = () => {};
    const load = async () => {
      try {
        const loaded = await loadState(id);
        if (isOver) return;
        setState(loaded);
        off();
        off = live.watchState(loaded.root, {
          session: id,
          since: loaded.version,
          history: loaded.history,
          onEvent: (event) => {
            loaded.apply(event);
            redraw();
          },
          onResync: () => void load(),
        });
      } catch (thrown) {
        if (!isOver) setError(asError(thrown));
      }
    };
    void load();
    return () => {
      isOver = true;
      off();
    };
  }, [id]);
  if (error) return html`<${Problem} error=${error} />`;
  if (!state) return html`<p>Loading…</p>`;
  return html`<h1>State <small>of ${state.root}</small></h1>
    <${SessionAbout} id=${id} live=${live} />
    <${Timeline} id=${id} state=${state} past=${past} onPast=${setPast} onError=${setError} />
    <p class="controls"><button type="button" aria-expanded=${isListing} onClick=${() => setListing(!isListing)}>All changes</button>
      <button type="button" aria-expanded=${isComparing} onClick=${() => setComparing(!isComparing)}>Compare versions</button></p>
    ${isListing && html`<${ChangeList} id=${id} version=${state.version} authors=${state.authors} onClose=${() => setListing(false)} />`}
    ${isComparing && html`<${StateComparison} id=${id} oldest=${state.oldest} newest=${state.version} start=${past?.version ?? state.oldest} onClose=${() => setComparing(false)} />`}
    <${KeyTable} state=${past ?? state} changed=${past ? NONE : state.takeChanged()} selected=${selected} onSelect=${setSelected} />
    ${selected !== null && html`<${KeyHistory} key=${selected} id=${id} name=${selected} version=${state.keys.get(selected)?.version ?? 0} onClose=${() => setSelected(null)} />`}`;
}

/** @param {string} id */
async function loadState(id) {
  const base = `/sessions/${segment(id)}/state`;
  const view = await get(base);
  const { oldest_version } = await get(`${base}/events?since=${view.global_version}&limit=1`);
  return new LiveState(view, oldest_version);
}

/** @param {{ id: string, state: LiveState, past: LiveState | null, onPast: (past: LiveState | null) => void, onError: (error: Error) => void }} props */
function Timeline({ id, state, past, onPast, onError }) {
  const wanted = useRef(/** @type {number | null} */ (null));
  const go = async (/** @type {number} */ version) => {
    wanted.current = version;
    if (version >= state.version) return onPast(null);
    try {
      const view = await get(`/sessions/${segment(id)}/state?at=${version}`);
      if (wanted.current === version) onPast(new LiveState(view, state.oldest));
    } catch (thrown) {
      onError(asError(thrown));
    }
  };
  const at = past ? (wanted.current ?? past.version) : state.version;
  return html`<div class="timeline">
    <label for="version">Version</label>
    <input id="version" type="range" min=${state.oldest} max=${state.version} value=${at}
      aria-valuetext=${`version ${at} of ${state.version}`} onInput=${(/** @type {{ target: HTMLInputElement }} */ event) => go(Number(event.target.value))} />
    <output for="version">${at} of ${state.version}</output>
    <button type="button" disabled=${!past} onClick=${() => go(state.version)}>Live</button>
    <span class="muted" role="status">${past ? 'past version' : 'live'}</span>
  </div>`;
}
