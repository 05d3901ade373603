/** One agent: what a restore would do, its context message by message, and the timeline of its traces. */
import { asError, get, segment } from './api.js';
import { Approvals } from './approvals-view.js';
import { html, useEffect, useState } from './preact.js';
import { Search } from './search-view.js';
import { counted, jsonText, LongText, Problem, Status, Time } from './text.js';

/**
 * @typedef {{ agent: import('./wire.js').Agent, report: import('./wire.js').Report, context: import('./wire.js').Context, traces: import('./wire.js').Traces }} Shown
 */

/** @param {{ id: string, live: import('./live.js').Live }} props */
export function AgentView({ id, live }) {
  const [shown, setShown] = useState(/** @type {Shown | null} */ (null));
  const [error, setError] = useState(/** @type {Error | null} */ (null));
  useEffect(() => {
    let isOver = false;
    const base = `/agents/${segment(id)}`;
    const load = async () => {
      try {
        const parts = ['', '/restore-report', '/context', '/traces?limit=100'];
        const [agent, restore, context, traces] = await Promise.all(
          parts.map((part) => get(`${base}${part}`)),
        );
        const { report } = restore;
        if (isOver) return;
        setShown({ agent, report, context, traces });
        setError(null);
      } catch (thrown) {
        if (!isOver) setError(asError(thrown));
      }
    };
    void load();
    const off = live.listen((message) => {
      if (message.type === 'agent_updated' && message.agent_id === id) void load();
    });
    return () => {
      isOver = true;
      off();
    };
  }, [id]);
  if (error) return html`<${Problem} error=${error} />`;
  if (!shown) return html`<p>Loading…</p>`;
  return html`<h1>${shown.agent.agent_id} <${Status} status=${shown.agent.status} /></h1>
    <${Approvals} live=${live} agentId=${id} />
    <${Search} id=${id} />
    <${Report} report=${shown.report} />
    <${Context} context=${shown.context} />
    <${Timeline} key=${shown.traces.traces[0]?.number} id=${id} first=${shown.traces} />`;
}

/** @param {{ report: import('./wire.js').Report }} props */
function Report({ report }) {
  const facts = [
    ['Source', report.source],
    ['Stopped', report.frontier.kind],
    ['Messages', report.messages],
    ['Epoch', report.epochId],
    ['Traces replayed', report.tracesReplayed],
    ['Time', `${report.phasesMs.total.toFixed(1)} ms`],
  ];
  return html`<section><h2>If restored now</h2>
    <dl class="facts">${facts.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
    <ul>
      ${report.cacheRefused && html`<li>The cache is not used (${report.cacheRefused.reason}): ${report.cacheRefused.detail}</li>`}
      ${report.interruptedCalls.map((call) => html`<li key=${call.callId}>Interrupted call ${call.toolName} (${call.callId}): ${call.verdict}</li>`)}
      ${report.repairs.map((repair, index) => html`<li key=${index}>Repair ${repair.code} at message ${repair.messageIndex}: ${repair.reason}</li>`)}
      ${report.damage.map((damage, index) => html`<li key=${index}>Damage in ${damage.file}: ${damage.reason}</li>`)}
      ${report.unknown.map((text) => html`<li key=${text}>Unknown: ${text}</li>`)}
    </ul>
  </section>`;
}

/** @param {{ context: import('./wire.js').Context }} props */
function Context({ context }) {
  const summary = `${counted(context.messages.length, 'message')}, ${counted(context.tokens, 'token')}`;
  return html`<section><h2>Context <small>${summary}</small></h2>
    <${Parts} parts=${context.parts} />
    <ol class="messages" start="0">
      ${context.messages.map((row) => html`<${MessageRow} key=${row.index} row=${row} />`)}
    </ol>
  </section>`;
}

/**
 * What the context is made of, as one bar and as numbers, the largest part first.
 * @param {{ parts: Readonly<Record<string, number>> }} props
 */
function Parts({ parts }) {
  const shown = Object.entries(parts)
    .filter(([, tokens]) => tokens > 0)
    .sort(([, a], [, b]) => b - a);
  const total = shown.reduce((sum, [, tokens]) => sum + tokens, 0);
  if (total === 0) return null;
  let start = 0;
  const bars = shown.map(([part, tokens]) => {
    const x = start;
    start += (100 * tokens) / total;
    return html`<rect key=${part} class=${`part ${part}`} x=${`${x}%`} width=${`${start - x}%`} height="100%" />`;
  });
  return html`<div class="parts">
    <svg class="parts-bar" role="img" aria-label="What the context is made of">${bars}</svg>
    <ul>${shown.map(
      ([
        part,
        tokens,
      ]) => html`<li key=${part}><svg class="swatch" aria-hidden="true"><rect class=${`part ${part}`} width="100%" height="100%" /></svg>
        ${part} <span class="muted">${counted(tokens, 'token')}, ${Math.round((100 * tokens) / total)} %</span></li>`,
    )}</ul>
  </div>`;
}

/** @param {{ row: import('./wire.js').ContextRow }} props */
function MessageRow({ row }) {
  const { message, tokens, repairs, index } = row;
  const calls = message.tool_payload?.tool_calls ?? [];
  const result = message.tool_payload?.tool_call_id ? message.tool_payload : null;
  return html`<li value=${index} class=${`message ${message.role}`}>
    <header><strong>${message.role}</strong> <span class="muted">${counted(tokens, 'token')}</span>
      ${repairs.map((code) => html` <span class="status repair" key=${code}>${code}</span>`)}</header>
    ${message.reasoning_content && html`<details><summary>Reasoning</summary><${LongText} text=${String(message.reasoning_content)} /></details>`}
    ${message.content && html`<${LongText} text=${String(message.content)} />`}
    ${calls.map((call) => html`<div class="call" key=${call.id}><span>calls <strong>${call.name}</strong> <span class="muted">${call.id}</span></span><${LongText} text=${jsonText(call.arguments)} /></div>`)}
    ${result && html`<div class="call"><span>result of <strong>${result.tool_name}</strong> <span class="muted">${result.tool_call_id}</span></span><${LongText} text=${typeof result.tool_result === 'string' ? result.tool_result : jsonText(result.tool_error ?? result.tool_result)} /></div>`}
  </li>`;
}

/** @param {{ id: string, first: import('./wire.js').Traces }} props */
function Timeline({ id, first }) {
  const [traces, setTraces] = useState(first.traces);
  const [before, setBefore] = useState(first.before);
  const [error, setError] = useState(/** @type {Error | null} */ (null));
  const more = () =>
    get(`/agents/${segment(id)}/traces?limit=100&before=${before}`).then((page) => {
      setTraces([...traces, ...page.traces]);
      setBefore(page.before);
    }, setError);
  return html`<section><h2>Traces <small>newest first</small></h2>
    ${error && html`<${Problem} error=${error} />`}
    <ol class="traces">
      ${traces.map(
        ({ number, ts, trace_type, turn_id, ...rest }) => html`<li key=${number} value=${number}>
          <header><strong>${trace_type}</strong> <span class="muted">${turn_id} · <${Time} at=${new Date(ts * 1000).toISOString()} /></span></header>
          <${LongText} text=${textOf(rest)} />
        </li>`,
      )}
    </ol>
    ${before !== null && html`<button type="button" onClick=${more}>Older traces</button>`}
  </section>`;
}

/** @param {{ content?: unknown, [field: string]: unknown }} trace */
function textOf(trace) {
  if (typeof trace.content === 'string' && trace.content !== '') return trace.content;
  const { id: _id, seq: _seq, source_event: _source, ...rest } = trace;
  return jsonText(rest);
}
