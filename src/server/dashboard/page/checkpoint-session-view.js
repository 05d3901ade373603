/** The checkpoints of one session, their sizes, and the difference between two of them. */
import { get, segment } from './api.js';
import { CheckpointMarks } from './checkpoint-view.js';
import { html, useEffect, useState } from './preact.js';
import { bytes, counted, LongText, Problem, Time } from './text.js';

const PAGE = 100;
/** Maximum of changes shown. */
const CHANGES = 300;

/** @param {{ id: string }} props */
export function CheckpointSessionView({ id }) {
  const [page, setPage] = useState(/** @type {import('./wire.js').CheckpointPage | null} */ (null));
  const [offset, setOffset] = useState(0);
  const [error, setError] = useState(/** @type {Error | null} */ (null));
  const [chosen, setChosen] = useState(
    /** @type {{ from: string | null, to: string | null }} */ ({ from: null, to: null }),
  );
  const load = () =>
    get(`/checkpoints?session=${segment(id)}&status=all&limit=${PAGE}&offset=${offset}`).then(
      setPage,
      setError,
    );
  useEffect(() => void load(), [offset]);
  if (error) return html`<${Problem} error=${error} />`;
  if (!page) return html`<p>Loading…</p>`;
  const { checkpoints, total } = page;
  const to = chosen.to ?? checkpoints[0]?.id ?? null;
  const from = chosen.from ?? checkpoints[1]?.id ?? null;
  const largest = Math.max(1, ...checkpoints.map(({ stored_bytes }) => stored_bytes));
  return html`<p><a href="#/checkpoints">All sessions</a></p>
    <h1>Checkpoints of <span class="name">${id}</span></h1>
    <p>${counted(total, 'checkpoint')} <button type="button" class="small" onClick=${load}>Reload</button></p>
    <table class="history checkpoints">
      <thead><tr><th scope="col">From</th><th scope="col">To</th><th scope="col">Checkpoint</th><th scope="col">Name</th><th scope="col">Saved</th><th scope="col">Context</th><th scope="col">Added</th><th scope="col">Share</th><th scope="col">Layers</th></tr></thead>
      <tbody>
        ${checkpoints.map(
          (checkpoint) => html`<tr key=${checkpoint.id}>
            <td data-label="From"><input type="radio" name="from" aria-label=${`Compare from ${checkpoint.id}`} checked=${checkpoint.id === from} onChange=${() => setChosen({ ...chosen, from: checkpoint.id })} /></td>
            <td data-label="To"><input type="radio" name="to" aria-label=${`Compare to ${checkpoint.id}`} checked=${checkpoint.id === to} onChange=${() => setChosen({ ...chosen, to: checkpoint.id })} /></td>
            <th scope="row" data-label="Checkpoint"><a href=${`#/checkpoint/${segment(checkpoint.id)}`}>${checkpoint.id}</a><${CheckpointMarks} of=${checkpoint} /></th>
            <td data-label="Name">${checkpoint.name ?? ''}${checkpoint.tags.length > 0 && html` <span class="muted">${checkpoint.tags.join(', ')}</span>`}</td>
            <td data-label="Saved"><${Time} at=${checkpoint.created_at} /></td>
            <td data-label="Context">${bytes(checkpoint.context_size_bytes)}</td>
            <td data-label="Added">${bytes(checkpoint.stored_bytes)}</td>
            <td data-label="Share"><meter min="0" max=${largest} value=${checkpoint.stored_bytes} aria-label=${`Bytes added by ${checkpoint.id}`}></meter></td>
            <td data-label="Layers"><${Layers} summary=${checkpoint.classification_summary} /></td>
          </tr>`,
        )}
      </tbody>
    </table>
    <p>${offset > 0 && html`<button type="button" class="small" onClick=${() => setOffset(offset - PAGE)}>Newer</button> `}
      ${offset + checkpoints.length < total && html`<button type="button" class="small" onClick=${() => setOffset(offset + PAGE)}>Older</button>`}</p>
    ${from && to && from !== to && html`<${Difference} key=${`${from} ${to}`} from=${from} to=${to} />`}`;
}

/** @param {{ summary: import('./wire.js').LayerSummary | null }} props */
function Layers({ summary }) {
  if (!summary) return html`<span>–</span>`;
  const parts = Object.entries(summary).map(([layer, { keys }]) => `${layer.toLowerCase()} ${keys}`);
  return html`<span class="muted">${parts.join(', ')}</span>`;
}

/** @param {{ from: string, to: string }} props */
function Difference({ from, to }) {
  const [diff, setDiff] = useState(/** @type {import('./wire.js').CheckpointDiff | null} */ (null));
  const [error, setError] = useState(/** @type {Error | null} */ (null));
  useEffect(() => {
    get(`/checkpoints/${segment(from)}/diff/${segment(to)}`).then(setDiff, setError);
  }, []);
  if (error) return html`<${Problem} error=${error} />`;
  if (!diff) return html`<p>Comparing…</p>`;
  const marks = { add: '+', remove: '-', replace: '~' };
  return html`<section class="panel" aria-label="Difference">
    <h2>From <span class="name">${from}</span> to <span class="name">${to}</span></h2>
    <p>${diff.changes.length === 0 ? 'No difference.' : counted(diff.changes.length, 'change')}${diff.changes.length > CHANGES && `. The first ${CHANGES} are shown.`}</p>
    <ul class="changes">${diff.changes.slice(0, CHANGES).map(
      (
        change,
        index,
      ) => html`<li key=${index} class=${change.op}><code>${marks[change.op]} ${change.path === '' ? '(all)' : change.path}</code>
        ${change.op !== 'remove' && html`<${LongText} text=${JSON.stringify(change.value, null, 2)} />`}</li>`,
    )}</ul>
  </section>`;
}
