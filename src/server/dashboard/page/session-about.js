/** What a session is: its status, its agent, its parent and its children. */
import { segment } from './api.js';
import { useSessionAnswers } from './loaded.js';
import { html, useState } from './preact.js';
import { Problem, Status, Time } from './text.js';

/** @typedef {import('./wire.js').Session} Session */

/** Children that are shown at once. */
const SHOWN = 20;

/** @param {{ id: string, live: import('./live.js').Live }} props */
export function SessionAbout({ id, live }) {
  const [isOpen, setOpen] = useState(false);
  const addresses = [`/sessions/${segment(id)}`, `/sessions?parent=${segment(id)}`];
  const { answers, error } = useSessionAnswers(live, addresses);
  if (error) return html`<${Problem} error=${error} />`;
  if (!answers) return html`<p>Loading the session…</p>`;
  const session = /** @type {Session} */ (answers[0]);
  const children = /** @type {readonly Session[]} */ (answers[1].sessions);
  const { parent, agent, status, why, updated_at: at } = session;
  const shown = isOpen ? children : children.slice(0, SHOWN);
  return html`<section aria-label="Session">
    <p><strong>${id}</strong> <${Status} status=${status} />${why !== null && ` ${why}`} since <${Time} at=${at} />${agent !== null && html`, agent <a href=${`#/agents/${segment(agent)}`}>${agent}</a>`}.
      ${parent === null ? ' A root session.' : html` Parent: <${SessionLink} id=${parent} />.`}</p>
    ${
      children.length > 0 &&
      html`<p>${children.length === 1 ? 'Child' : `${children.length.toLocaleString('en')} children`}: ${shown.map(
        (child, index) =>
          html`${index > 0 && ', '}<span key=${child.id}><${SessionLink} id=${child.id} /> <${Status} status=${child.status} /></span>`,
      )}${children.length > SHOWN && html` <button type="button" class="small" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>${isOpen ? 'Show fewer' : 'Show all'}</button>`}</p>`
    }
  </section>`;
}

/** @param {{ id: string }} props */
function SessionLink({ id }) {
  return html`<a href=${`#/sessions/${segment(id)}`}>${id}</a>`;
}
