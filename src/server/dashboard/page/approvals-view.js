/** Calls of tools that wait for a person: with their arguments, and two buttons. */
import { asError, get, post, segment } from './api.js';
import { oneAtATime } from './one-at-a-time.js';
import { html, useEffect, useState } from './preact.js';
import { jsonText, LongText, Problem, Time } from './text.js';

/**
 * Nothing while nothing waits. @param {{ live: import('./live.js').Live, agentId?: string }} props `agentId` left out: of all agents
 */
export function Approvals({ live, agentId }) {
  const [waiting, setWaiting] = useState(/** @type {readonly import('./wire.js').Approval[]} */ ([]));
  const [error, setError] = useState(/** @type {Error | null} */ (null));
  useEffect(() => {
    let isOver = false;
    const load = oneAtATime(async () => {
      try {
        const { approvals } = await get('/approvals');
        if (isOver) return;
        setWaiting(approvals);
        setError(null);
      } catch (thrown) {
        if (!isOver) setError(asError(thrown));
      }
    });
    void load();
    const off = live.listen(({ type }) => {
      if (type === 'agent_updated' || type === 'authenticated') void load();
    });
    return () => {
      isOver = true;
      off();
    };
  }, [agentId]);
  if (error) return html`<${Problem} error=${error} />`;
  const shown = waiting.filter((one) => agentId === undefined || one.agent_id === agentId);
  if (shown.length === 0) return null;
  return html`<section aria-label="Waiting for a person"><h2>Waiting for a person</h2>
    ${shown.map((one) => html`<${Waiting} key=${`${one.agent_id} ${one.turn_id} ${one.call_id}`} given=${one} />`)}
  </section>`;
}

/** @param {{ given: import('./wire.js').Approval }} props */
function Waiting({ given }) {
  const [decided, setDecided] = useState(/** @type {import('./wire.js').Approval | null} */ (null));
  const [error, setError] = useState(/** @type {Error | null} */ (null));
  const [asked, setAsked] = useState(/** @type {boolean | null} */ (null));
  const [reason, setReason] = useState('');
  const { agent_id: agent, call_id, turn_id, tool_name: tool, arguments_sha256 } = given;
  const decision = (decided ?? given).decision;
  /** @param {boolean} approved */
  const decide = (approved) => {
    setAsked(null);
    const why = reason.trim() === '' ? {} : { reason };
    const body = { call_id, turn_id, approved, arguments_sha256, ...why };
    post(`/agents/${segment(agent)}/approvals`, body).then(setDecided, setError);
  };
  return html`<article class="waiting">
    <h3>${tool} <small>of <a href=${`#/agents/${segment(agent)}`}>${agent}</a>, ${turn_id}</small></h3>
    <${LongText} text=${jsonText(given.arguments)} />
    <p>Since <${Time} at=${given.requested_at} />${given.expires_at && html`, until <${Time} at=${given.expires_at} />`}</p>
    ${error && html`<${Problem} error=${error} />`}
    ${decision && html`<p role="status">${decision.approved ? 'Approved' : 'Denied'} by ${decision.by ?? 'somebody'}. The agent takes it where it runs, or when it resumes.</p>`}
    ${
      !decision &&
      asked === null &&
      html`<p><label>Reason <input value=${reason} maxlength="2000" onInput=${(/** @type {InputEvent} */ event) => setReason(/** @type {HTMLInputElement} */ (event.target).value)} /></label>
        <button type="button" onClick=${() => setAsked(true)}>Approve</button>
        <button type="button" onClick=${() => setAsked(false)}>Deny</button></p>`
    }
    ${
      !decision &&
      asked !== null &&
      html`<p>${asked ? 'Let this call run?' : 'Refuse this call? The model reads the reason.'}
        <button type="button" onClick=${() => decide(asked)}>${asked ? 'Yes, run it' : 'Yes, refuse it'}</button>
        <button type="button" onClick=${() => setAsked(null)}>Cancel</button></p>`
    }
  </article>`;
}
