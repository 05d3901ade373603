/** The agents in the memory folder. */
import { get, segment } from './api.js';
import { Approvals } from './approvals-view.js';
import { oneAtATime } from './one-at-a-time.js';
import { html, useEffect, useState } from './preact.js';
import { Problem, Status, Time } from './text.js';

/** @param {{ live: import('./live.js').Live }} props */
export function AgentsView({ live }) {
  const [agents, setAgents] = useState(/** @type {readonly import('./wire.js').Agent[] | null} */ (null));
  const [error, setError] = useState(/** @type {Error | null} */ (null));
  useEffect(() => {
    let isOver = false;
    const load = oneAtATime(() =>
      get('/agents').then(
        (list) => {
          if (isOver) return;
          setAgents(list.agents);
          setError(null);
        },
        (thrown) => {
          if (!isOver) setError(thrown);
        },
      ),
    );
    void load();
    const off = live.listen(({ type }) => {
      if (type === 'agent_updated' || type === 'authenticated') void load();
    });
    return () => {
      isOver = true;
      off();
    };
  }, []);
  if (error) return html`<${Problem} error=${error} />`;
  if (!agents) return html`<p>Loading…</p>`;
  return html`<h1>Agents</h1>
    <${Approvals} live=${live} />
    ${agents.length === 0 && html`<p>No agents here yet.</p>`}
    ${
      agents.length > 0 &&
      html`<table>
        <thead><tr><th scope="col">Agent</th><th scope="col">Status</th><th scope="col">Messages</th><th scope="col">Epoch</th><th scope="col">Traces</th><th scope="col">Cache</th><th scope="col">Last trace</th></tr></thead>
        <tbody>
          ${agents.map(
            (agent) => html`<tr key=${agent.agent_id}>
              <th scope="row" data-label="Agent"><a href=${`#/agents/${segment(agent.agent_id)}`}>${agent.agent_id}</a></th>
              <td data-label="Status"><${Status} status=${agent.status} /></td>
              <td data-label="Messages">${agent.messages ?? '–'}</td>
              <td data-label="Epoch">${agent.epoch ?? '–'}</td>
              <td data-label="Traces">${agent.traces}</td>
              <td data-label="Cache">${agent.snapshot}</td>
              <td data-label="Last trace"><${Time} at=${agent.last_trace_at} /></td>
            </tr>`,
          )}
        </tbody>
      </table>`
    }`;
}
