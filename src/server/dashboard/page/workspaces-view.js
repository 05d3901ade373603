/** The workspaces of the store, and what belongs to all of them: tool calls, plans and sessions. */
import { get, segment } from './api.js';
import { useAnswer } from './loaded.js';
import { html, useState } from './preact.js';
import { counted, LongText, Problem, Status, Time } from './text.js';
import { ToolCalls } from './tool-calls-view.js';

/** @typedef {import('./workspace-wire.js').WorkspaceList} WorkspaceList */
/** @typedef {import('./workspace-wire.js').Plans} PlanList */
/** @typedef {import('./workspace-wire.js').WorkspaceSessions} SessionList */

/** How a workspace is called. @param {string} id */
export function workspaceName(id) {
  if (id === 'store') return 'Workspace of the store';
  const owner = id.slice(id.indexOf(':') + 1);
  return id.startsWith('root:') ? `Workspace of the session ${owner}` : `Workspace of the agent ${owner}`;
}

export function WorkspacesView() {
  const { answer, error } = useAnswer('/workspaces');
  const list = /** @type {WorkspaceList | null} */ (answer);
  if (error) return html`<${Problem} error=${error} />`;
  if (!list) return html`<p>Loading…</p>`;
  return html`<h1>Workspaces</h1>
    <ul>${list.workspaces.map((id) => html`<li key=${id}><a href=${`#/workspaces/${segment(id)}`}>${workspaceName(id)}</a></li>`)}</ul>
    <${CurrentPlan} />
    <${Sessions} />
    <${ToolCalls} />`;
}

function CurrentPlan() {
  const { answer, error } = useAnswer('/workspace/plans');
  const plans = /** @type {PlanList | null} */ (answer);
  if (error) return html`<${Problem} error=${error} />`;
  if (!plans) return html`<p>Loading the plans…</p>`;
  return html`<section aria-label="Plans"><h2>Plans</h2>
    ${plans.current === null ? html`<p>No current plan. Write one with <code>rekindle workspace plan write FILE</code>.</p>` : html`<${LongText} text=${plans.current} />`}
    ${
      plans.archived.length > 0 &&
      html`<details><summary>${counted(plans.archived.length, 'archived plan')}</summary>
      ${plans.archived.toReversed().map((name) => html`<${ArchivedPlan} key=${name} name=${name} />`)}</details>`
    }
  </section>`;
}

/** @param {{ name: string }} props */
function ArchivedPlan({ name }) {
  const [text, setText] = useState(/** @type {string | null} */ (null));
  const [error, setError] = useState(/** @type {Error | null} */ (null));
  const show = () =>
    text === null
      ? get(`/workspace/plans/${segment(name)}`).then((plan) => setText(plan.text), setError)
      : setText(null);
  return html`<div><button type="button" class="small" aria-expanded=${text !== null} onClick=${show}>${name}</button>
    ${error && html`<${Problem} error=${error} />`}${text !== null && html`<${LongText} text=${text} />`}</div>`;
}

function Sessions() {
  const { answer, error } = useAnswer('/workspace/sessions');
  const list = /** @type {SessionList | null} */ (answer);
  if (error) return html`<${Problem} error=${error} />`;
  if (!list) return html`<p>Loading the sessions…</p>`;
  if (list.sessions.length === 0) return html``;
  return html`<section aria-label="Sessions of the workspace"><h2>Sessions</h2>
    <table>
      <thead><tr><th scope="col">Session</th><th scope="col">Title</th><th scope="col">Status</th><th scope="col">Began</th><th scope="col">Last active</th><th scope="col">Resumed</th><th scope="col">Agents</th></tr></thead>
      <tbody>${list.sessions.map(
        (session) => html`<tr key=${session.id}>
          <th scope="row" data-label="Session">${session.id}${session.id === list.current && html` <span class="muted">current</span>`}</th>
          <td data-label="Title">${session.title}</td>
          <td data-label="Status"><${Status} status=${session.status} /></td>
          <td data-label="Began"><${Time} at=${session.started_at} /></td>
          <td data-label="Last active"><${Time} at=${session.last_active_at} /></td>
          <td data-label="Resumed">${session.resumed}</td>
          <td data-label="Agents">${session.agents.map(({ name, agent_id: id }, index) => html`${index > 0 && ', '}<a key=${name} href=${`#/agents/${segment(id)}`}>${name}</a>`)}</td>
        </tr>`,
      )}</tbody>
    </table></section>`;
}
