/** One checkpoint: its session, what is said of it, and its context. */
import { segment } from './api.js';
import { useAnswer } from './loaded.js';
import { html } from './preact.js';
import { bytes, LongText, Problem, Time } from './text.js';

/** @param {{ id: string }} props */
export function CheckpointView({ id }) {
  const { answer, error } = useAnswer(`/checkpoints/${segment(id)}`);
  const checkpoint = /** @type {import('./wire.js').Checkpoint | null} */ (answer);
  if (error) return html`<p><a href="#/checkpoints">All sessions</a></p><${Problem} error=${error} />`;
  if (!checkpoint) return html`<p>Loading…</p>`;
  const { session_id: session, name, agent_id: agent, tags, left_out_keys: leftOut } = checkpoint;
  return html`<p><a href="#/checkpoints">All sessions</a> · <a href=${`#/checkpoints/${segment(session)}`}>Session ${session}</a></p>
    <h1>Checkpoint <span class="name">${id}</span></h1>
    <p>Saved <${Time} at=${checkpoint.created_at} />${agent !== null && html` by <a href=${`#/agents/${segment(agent)}`}>${agent}</a>`}, ${bytes(checkpoint.context_size_bytes)}.<${CheckpointMarks} of=${checkpoint} /></p>
    ${(name !== null || tags.length > 0) && html`<p>${name ?? ''} <span class="muted">${tags.join(', ')}</span></p>`}
    ${leftOut.length > 0 && html`<p class="muted">Not saved, because of the running program only: ${leftOut.join(', ')}</p>`}
    <${Context} id=${id} />`;
}

/** @param {{ of: import('./wire.js').Checkpoint }} props */
export function CheckpointMarks({ of: { status, critical, encrypted } }) {
  return html`${status === 'corrupt' && html` <span class="status failed">corrupt</span>`}${status === 'archived' && html` <span class="status">archived</span>`}${critical && html` <span class="status running">critical</span>`}${encrypted && html` <span class="muted">encrypted</span>`}`;
}

/** @param {{ id: string }} props */
function Context({ id }) {
  const { answer, error } = useAnswer(`/checkpoints/${segment(id)}/context`);
  const loaded = /** @type {import('./wire.js').CheckpointContext | null} */ (answer);
  if (error) return html`<${Problem} error=${error} />`;
  if (!loaded) return html`<p>Loading the context…</p>`;
  return html`<section class="panel" aria-label="Context">
    <h2>Context</h2>
    ${Object.entries(loaded.context).map(
      ([key, value]) =>
        html`<h3 key=${key}>${key}</h3><${LongText} text=${JSON.stringify(value, null, 2)} />`,
    )}
  </section>`;
}
