/** The session tree. */
import { asError, get, segment } from './api.js';
import { html, useEffect, useState } from './preact.js';
import { Problem, Status, Time } from './text.js';

/** @param {{ live: import('./live.js').Live }} props */
export function SessionsView({ live }) {
  const [sessions, setSessions] = useState(
    /** @type {readonly import('./wire.js').Session[] | null} */ (null),
  );
  const [orphans, setOrphans] = useState(
    /** @type {ReadonlyMap<string, import('./wire.js').Orphan>} */ (new Map()),
  );
  const [error, setError] = useState(/** @type {Error | null} */ (null));
  useEffect(() => {
    let isOver = false;
    const load = async () => {
      try {
        const [list, lost] = await Promise.all([get('/sessions'), get('/orphans')]);
        if (isOver) return;
        setSessions(list.sessions);
        setOrphans(
          new Map(
            lost.orphans.map((/** @type {import('./wire.js').Orphan} */ orphan) => [
              orphan.session.id,
              orphan,
            ]),
          ),
        );
        setError(null);
      } catch (thrown) {
        if (!isOver) setError(asError(thrown));
      }
    };
    void load();
    const off = live.listen(({ type }) => {
      if (type === 'session_updated' || type === 'authenticated') void load();
    });
    return () => {
      isOver = true;
      off();
    };
  }, []);
  if (error) return html`<${Problem} error=${error} />`;
  if (!sessions) return html`<p>Loading…</p>`;
  const roots = sessions.filter(({ parent }) => parent === null);
  const missing = sessions.filter(
    ({ parent }) => parent !== null && !sessions.some(({ id }) => id === parent),
  );
  return html`<h1>Sessions</h1>
    ${sessions.length === 0 && html`<p>No sessions yet. Create one with <code>rekindle session create</code> or <code>POST /sessions</code>.</p>`}
    <${Branch} sessions=${sessions} of=${[...roots, ...missing].reverse()} orphans=${orphans} />`;
}

/** @param {{ sessions: readonly import('./wire.js').Session[], of: readonly import('./wire.js').Session[], orphans: ReadonlyMap<string, import('./wire.js').Orphan> }} props */
function Branch({ sessions, of, orphans }) {
  if (of.length === 0) return null;
  return html`<ul class="tree">
    ${of.map((session) => {
      const orphan = orphans.get(session.id);
      const children = sessions.filter(({ parent }) => parent === session.id);
      return html`<li key=${session.id}>
        <a href=${`#/sessions/${segment(session.id)}`}>${session.id}</a> <${Status} status=${session.status} />
        ${session.agent && html` <span class="muted">agent ${session.agent}</span>`}
        ${session.why && html` <span class="muted">${session.why}</span>`}
        ${orphan && html` <strong class="warn">orphan: ${orphan.reason === 'parent_ended' ? `${orphan.ancestor} has ended` : `${orphan.ancestor} is missing`}</strong>`}
        <span class="muted"> <${Time} at=${session.updated_at} /></span>
        <${Branch} sessions=${sessions} of=${children} orphans=${orphans} />
      </li>`;
    })}
  </ul>`;
}
