/** The state of a session: keys and values, live, or at an earlier version chosen with a slider. */
import { asError, get, segment } from './api.js';
import { KeyHistory } from './key-history.js';
import { html, useEffect, useRef, useState } from './preact.js';
import { jsonText, LongText, Problem, Time } from './text.js';

/** @typedef {{ root: string, version: number, history: string | undefined, oldest: number, keys: Map<string, import('./wire.js').StateKey> }} Shown */

/** @param {{ id: string, live: import('./live.js').Live }} props */
export function StateView({ id, live }) {
  const [state, setState] = useState(/** @type {Shown | null} */ (null));
  const [past, setPast] = useState(/** @type {Shown | null} */ (null));
  const [selected, setSelected] = useState(/** @type {string | null} */ (null));
  const [changed, setChanged] = useState('');
  const [error, setError] = useState(/** @type {Error | null} */ (null));
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
            setState((before) => before && withEvent(before, event));
            setChanged(event.key);
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
  const shown = past ?? state;
  return html`<h1>State <small>of ${state.root}</small></h1>
    <${Timeline} id=${id} state=${state} past=${past} onPast=${setPast} onError=${setError} />
    <${KeyTable} keys=${[...shown.keys.values()]} changed=${past ? '' : changed} selected=${selected} onSelect=${setSelected} />
    ${selected !== null && html`<${KeyHistory} key=${selected} id=${id} name=${selected} version=${state.keys.get(selected)?.version ?? 0} onClose=${() => setSelected(null)} />`}`;
}

/** @param {string} id @returns {Promise<Shown>} */
async function loadState(id) {
  const base = `/sessions/${segment(id)}/state`;
  const view = await get(base);
  const { oldest_version } = await get(`${base}/events?since=${view.global_version}&limit=1`);
  return shownOf(view, oldest_version);
}

/** @param {import('./wire.js').StateView} view @param {number} oldest @returns {Shown} */
function shownOf(view, oldest) {
  return {
    root: view.root_session_id,
    version: view.global_version,
    history: view.history,
    oldest,
    keys: new Map(Object.entries(view.keys)),
  };
}

/** @param {Shown} before @param {import('./wire.js').StateEvent} event @returns {Shown} */
function withEvent(before, event) {
  const keys = new Map(before.keys);
  if (event.type === 'state_key_deleted') keys.delete(event.key);
  else keys.set(event.key, { ...event, updated_at: event.timestamp });
  return { ...before, keys, version: event.global_version };
}

/** @param {{ id: string, state: Shown, past: Shown | null, onPast: (past: Shown | null) => void, onError: (error: Error) => void }} props */
function Timeline({ id, state, past, onPast, onError }) {
  const wanted = useRef(/** @type {number | null} */ (null));
  const go = async (/** @type {number} */ version) => {
    wanted.current = version;
    if (version >= state.version) return onPast(null);
    try {
      const view = await get(`/sessions/${segment(id)}/state?at=${version}`);
      if (wanted.current === version) onPast(shownOf(view, state.oldest));
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

/** @param {{ keys: readonly import('./wire.js').StateKey[], changed: string, selected: string | null, onSelect: (key: string) => void }} props */
function KeyTable({ keys, changed, selected, onSelect }) {
  if (keys.length === 0) return html`<p>No key has a value.</p>`;
  const sorted = keys.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  return html`<table>
    <thead><tr><th scope="col">Key</th><th scope="col">Value</th><th scope="col">Version</th><th scope="col">By</th><th scope="col">When</th><th scope="col"><span class="hidden">History</span></th></tr></thead>
    <tbody>
      ${sorted.map(
        (entry) => html`<tr key=${entry.key} class=${entry.key === changed ? 'changed' : ''}>
          <th scope="row" data-label="Key">${entry.key}</th>
          <td data-label="Value"><${LongText} text=${jsonText(entry.value)} /></td>
          <td data-label="Version">${entry.version}</td>
          <td data-label="By">${entry.updated_by}</td>
          <td data-label="When"><${Time} at=${entry.updated_at} /></td>
          <td><button type="button" class="small" aria-pressed=${entry.key === selected} aria-label=${`History of ${entry.key}`} onClick=${() => onSelect(entry.key)}>History</button></td>
        </tr>`,
      )}
    </tbody>
  </table>`;
}
