/** What a session is: its status, its agent, its parent and its children. */
import { asError, get, segment } from './api.js';
import { oneAtATime } from './one-at-a-time.js';
import { html, useEffect, useState } from './preact.js';
import { Problem, Status, Time } from './text.js';

/** @typedef {import('./wire.js').Session} Session */

/** Children that are shown at once. */
const SHOWN = 20;

/** @param {{ id: string, live: import('./live.js').Live }} props */
export function SessionAbout({ id, live }) {
  const [session, setSession] = useState(/** @type {Session | null} */ (null));
  const [children, setChildren] = useState(/** @type {readonly Session[]} */ ([]));
  const [error, setError] = useState(/** @type {Error | null} */ (null));
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    let isOver = false;
    const load = oneAtATime(async () => {
      try {
        const [own, below] = await Promise.all([
          get(`/sessions/${segment(id)}`),
          get(`/sessions?parent=${segment(id)}`),
        ]);
        if (isOver) return;
        setSession(own);
        setChildren(below.sessions);
        setError(null);
      } catch (thrown) {
        if (!isOver) setError(asError(thrown));
      }
    });
    void load();
    const off = live.listen(({ type }) => {
      if (type === 'session_updated' || type === 'authenticated') void load();
    });
    return () => {
      isOver = true;
      off();
    };
  }, [id]);
  if (error) return html`<${Problem} error=${error} />`;
  if (!session) return html`<p>Loading the session…</p>`;
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
