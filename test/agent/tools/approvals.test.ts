import { describe, expect, it, onTestFinished } from 'vitest';
import type { StopOptions } from '../../../src/agent/agent.js';
import type { AgentConfig } from '../../../src/agent/context/agent-config.js';
import { openAgent } from '../../../src/agent/factory/agent-factory.js';
import { ScriptedModel } from '../../../src/agent/model/scripted-model.js';
import type { ApprovalRequest, Approve } from '../../../src/agent/tools/approval.js';
import type { ToolDefinition } from '../../../src/core/tool-definition.js';
import {
  AGENT_ID,
  agentFixture,
  callsWork,
  gate,
  outline,
  rejection,
  storageAfterKill,
  tool,
} from '../agent-fixture.js';

const NOT_APPROVED = 'error: The call was not approved, so it did not run.';

/** One turn with one call of a tool that needs approval: its result, and how often it ran. */
async function withApprover(approve: Approve | null, needs: ToolDefinition['needsApproval'] = true) {
  const fixture = await agentFixture();
  let ran = 0;
  const work = tool({ needsApproval: needs, execute: () => ++ran });
  const config: Partial<AgentConfig> = { tools: [work], ...(approve ? { approve } : {}) };
  const agent = await fixture.started([callsWork({ rm: '/' }), { text: 'ok' }], config);
  const events: string[] = [];
  agent.events.on('tool_approval_requested', ({ callId }) => events.push(`asked for ${callId}`));
  agent.events.on('tool_started', ({ callId }) => events.push(`started ${callId}`));
  await agent.send('go');
  return { fixture, agent, events, ran: () => ran, line: outline(agent.messages).at(-2) };
}

describe('a call that needs approval', () => {
  it('runs when it is approved, after the approver was asked', async () => {
    const { events, ran, line } = await withApprover(() => true);
    expect(line).toBe('result: 1');
    expect(ran()).toBe(1);
    expect(events).toEqual(['asked for call_1_1', 'started call_1_1']);
  });

  it('does not run when it is denied, and the model is told', async () => {
    const { events, ran, line } = await withApprover(async () => false);
    expect(line).toBe(NOT_APPROVED);
    expect(ran()).toBe(0);
    expect(events).toEqual(['asked for call_1_1']);
  });

  it('does not run when nobody is there to approve', async () => {
    const { ran, line } = await withApprover(null);
    expect(line).toBe('error: The call needs approval and nobody is there to give it, so it did not run.');
    expect(ran()).toBe(0);
  });

  it.each<[string, Approve]>([
    ['rejects', () => Promise.reject(new Error('the window was closed'))],
    [
      'throws',
      () => {
        throw new Error('no window');
      },
    ],
  ])('does not run when the approver %s', async (_, approve) => {
    const { ran, line } = await withApprover(approve);
    expect(line).toBe(NOT_APPROVED);
    expect(ran()).toBe(0);
  });

  it('does not run when the approver answers with something that is not true', async () => {
    const { ran, line } = await withApprover((() => 'no') as unknown as Approve);
    expect(line).toBe(NOT_APPROVED);
    expect(ran()).toBe(0);
  });

  it('shows the approver what is to run', async () => {
    let request: ApprovalRequest | null = null;
    await withApprover((asked) => {
      request = asked;
      return true;
    });
    expect(request).toMatchObject({
      callId: 'call_1_1',
      turnId: 'turn_0001',
      toolName: 'work',
      arguments: { rm: '/' },
    });
  });

  it('is in the ledger before the approver is asked, and the decision before the start', async () => {
    const fixture = await agentFixture();
    let whenAsked: unknown[] = [];
    const agent = await fixture.started([callsWork(), { text: 'ok' }], {
      tools: [tool({ needsApproval: true, execute: () => 1 })],
      approve: async () => {
        whenAsked = await fixture.rows('pending_calls');
        return true;
      },
    });
    await agent.send('go');
    expect(whenAsked).toMatchObject([{ event: 'approval_requested', call_id: 'call_1_1' }]);
    expect(await fixture.rows('pending_calls')).toMatchObject([
      { event: 'approval_requested' },
      { event: 'approval_decided', approved: true },
      { event: 'started' },
    ]);
  });

  it('is refused for bad arguments without asking anybody', async () => {
    const fixture = await agentFixture();
    let asked = 0;
    const work = tool({
      needsApproval: true,
      inputSchema: { type: 'object', required: ['n'] },
      execute: () => 1,
    });
    const agent = await fixture.started([callsWork({}), { text: 'ok' }], {
      tools: [work],
      approve: () => ++asked > 0,
    });
    await agent.send('go');
    expect(asked).toBe(0);
  });
});

describe('needsApproval as a function', () => {
  it('decides by the arguments', async () => {
    const fixture = await agentFixture();
    const asked: unknown[] = [];
    const work = tool({ needsApproval: ({ n }) => Number(n) > 1, execute: ({ n }) => n });
    const agent = await fixture.started([callsWork({ n: 1 }, { n: 2 }), { text: 'ok' }], {
      tools: [work],
      approve: (request) => asked.push(request.arguments) > 0,
    });
    await agent.send('go');
    expect(asked).toEqual([{ n: 2 }]);
  });

  it('that throws asks', async () => {
    let asked = 0;
    await withApprover(
      () => ++asked > 0,
      () => {
        throw new Error('cannot say');
      },
    );
    expect(asked).toBe(1);
  });
});

describe('a turn cancelled while it waits for an approval', () => {
  it('ends, and the call has not run and has its result', async () => {
    const fixture = await agentFixture();
    let ran = 0;
    const asked = gate();
    const cancel = new AbortController();
    const agent = await fixture.started([callsWork()], {
      tools: [tool({ needsApproval: true, execute: () => ++ran })],
      approve: () => {
        asked.open();
        return new Promise(() => {}); // nobody ever decides
      },
    });
    const turn = agent.send('go', { signal: cancel.signal });
    await asked.opened;
    cancel.abort();
    expect((await turn).status).toBe('aborted');
    expect(ran).toBe(0);
    expect(outline(agent.messages).at(-1)).toBe(
      'error: Cancelled before it was started, so it had no effect.',
    );
  });
});

describe('a call that was left open for its approval by the restore', () => {
  async function crashedWhileAsking() {
    const fixture = await agentFixture();
    const asked = gate();
    const work = tool({ needsApproval: true, execute: () => 'ran' });
    const crashed = await fixture.started([callsWork()], {
      tools: [work],
      approve: () => {
        asked.open();
        return new Promise(() => {});
      },
    });
    crashed.send('go').catch(() => {});
    await asked.opened;
    const config = { tools: [work], storage: storageAfterKill(fixture.dir) };
    return { fixture, config };
  }

  it('is asked about again by resume(), and runs when it is approved', async () => {
    const { fixture, config } = await crashedWhileAsking();
    const agent = fixture.restored([{ text: 'ok' }], { ...config, approve: () => true });
    await agent.start();
    expect(agent.restoreReport?.interruptedCalls).toMatchObject([
      { verdict: 'not_started', approvalPending: true, leftOpen: true },
    ]);
    expect((await agent.resume()).text).toBe('ok');
    expect(outline(agent.messages)).toEqual(['user: go', 'call: work{}', 'result: "ran"', 'assistant: ok']);
  });

  it('gets a result before the next message when the host sends one instead', async () => {
    const { fixture, config } = await crashedWhileAsking();
    const agent = fixture.restored([{ text: 'ok' }], config);
    await agent.start();
    await agent.send('never mind');
    expect(outline(agent.messages)).toEqual([
      'user: go',
      'call: work{}',
      expect.stringMatching(/^error: Interrupted: .*waited for approval/),
      'user: never mind',
      'assistant: ok',
    ]);
  });

  it('is closed by the restore when the host asks for it', async () => {
    const { fixture, config } = await crashedWhileAsking();
    const agent = fixture.restored([{ text: 'ok' }], config, { keepPendingApprovals: false });
    await agent.start();
    expect(agent.restoreReport?.interruptedCalls).toMatchObject([{ approvalPending: true, leftOpen: false }]);
    expect(await rejection(agent.resume())).toBe('nothing was thrown');
  });
});

describe('stop() while a call waits for an approval', () => {
  async function stoppedWhileAsking(options: StopOptions) {
    const fixture = await agentFixture();
    const asked = gate();
    const work = tool({ needsApproval: true, execute: () => 'ran' });
    const agent = await fixture.started([callsWork({ n: 1 }), { text: 'ok' }], {
      tools: [work],
      approve: () => {
        asked.open();
        return new Promise(() => {});
      },
    });
    const turn = agent.send('go');
    await asked.opened;
    await agent.stop({ graceMs: 0, ...options });
    expect((await turn).status).toBe('aborted');
    return { fixture, work };
  }

  it('leaves the call open, and openAgent() and resume() ask again', async () => {
    const { fixture, work } = await stoppedWhileAsking({});
    const asked: unknown[] = [];
    const agent = await openAgent(AGENT_ID, {
      memoryDir: fixture.dir,
      model: new ScriptedModel([{ text: 'ok' }]),
      tools: [work],
      approve: (request) => asked.push(request.arguments) > 0,
    });
    onTestFinished(() => agent.stop());
    expect(agent.restoreReport?.interruptedCalls).toMatchObject([{ approvalPending: true, leftOpen: true }]);
    expect((await agent.resume()).text).toBe('ok');
    expect(asked).toEqual([{ n: 1 }]);
    expect(outline(agent.messages)).toEqual([
      'user: go',
      'call: work{"n":1}',
      'result: "ran"',
      'assistant: ok',
    ]);
  });

  it('closes the call when the host asks for it', async () => {
    const { fixture } = await stoppedWhileAsking({ keepPendingApprovals: false });
    expect((await fixture.rows()).at(-1)).toMatchObject({
      trace_type: 'tool_result',
      tool_error: 'Cancelled before it was started, so it had no effect.',
    });
  });

  it('is closed by openAgent() with keepPendingApprovals: false', async () => {
    const { fixture } = await stoppedWhileAsking({});
    const config = { memoryDir: fixture.dir, model: new ScriptedModel([]) };
    const agent = await openAgent(AGENT_ID, config, { keepPendingApprovals: false });
    onTestFinished(() => agent.stop());
    expect(agent.memory.openCalls()).toEqual([]);
  });
});
