/** Sessions with checkpoints, and their sizes. */
import { segment } from './api.js';
import { useAnswer } from './loaded.js';
import { html } from './preact.js';
import { bytes, counted, Problem, Time } from './text.js';

export function CheckpointsView() {
  const { answer, error, reload } = useAnswer('/checkpoints/sessions');
  const list = /** @type {import('./wire.js').CheckpointSessions | null} */ (answer);
  if (error) return html`<${Problem} error=${error} />`;
  if (!list) return html`<p>Loading…</p>`;
  const { sessions, total_size_bytes: total, max_total_size: max, problems } = list;
  return html`<h1>Checkpoints</h1>
    <p>${counted(sessions.length, 'session')}, ${bytes(total)} of ${bytes(max)} <button type="button" class="small" onClick=${reload}>Reload</button></p>
    ${problems.map(({ session_id, message }) => html`<p key=${session_id} class="warn">${session_id} cannot be read: ${message}</p>`)}
    ${sessions.length === 0 && html`<p>No checkpoints yet. Save one with <code>rekindle checkpoint save --agent …</code>.</p>`}
    ${
      sessions.length > 0 &&
      html`<table>
        <thead><tr><th scope="col">Session</th><th scope="col">Checkpoints</th><th scope="col">Size</th><th scope="col">Share</th><th scope="col">Tags</th><th scope="col">Last used</th></tr></thead>
        <tbody>
          ${sessions.map(
            (session) => html`<tr key=${session.id}>
              <th scope="row" data-label="Session"><a href=${`#/checkpoints/${segment(session.id)}`}>${session.id}</a>${session.encrypted && html` <span class="muted">encrypted</span>`}</th>
              <td data-label="Checkpoints">${session.checkpoints}</td>
              <td data-label="Size">${bytes(session.total_size_bytes)}</td>
              <td data-label="Share"><meter min="0" max=${Math.max(1, total)} value=${session.total_size_bytes} aria-label=${`Share of ${session.id}`}></meter></td>
              <td data-label="Tags">${session.tags.join(', ')}</td>
              <td data-label="Last used"><${Time} at=${session.last_accessed_at} /></td>
            </tr>`,
          )}
        </tbody>
      </table>`
    }`;
}
