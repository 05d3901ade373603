/**
 * Several agents: a root session with two children that work on one shared state. One of them is killed, and continues.
 *
 *     npx tsx examples/guides/several-agents.ts
 *
 * Scripts stand for the models.
 */
import assert from 'node:assert/strict';
import { FileStorage, isRekindleError, openAgent, ScriptedModel } from '../../src/index.js';
import { SharedSessions, sharedStateTools } from '../../src/state/index.js';
import { lives } from '../support/lives.js';

const TASKS = 5;

/** Looks at the state, and does the next task that is not in it. So a call with an unknown outcome is not repeated blindly. */
const modelOf = (name: string) =>
  new ScriptedModel(
    Array.from({ length: 50 }, () => ({ messages }) => {
      const last = JSON.stringify(messages.at(-1)?.toolPayload ?? null);
      if (!/"state_get".*"toolError":null/.test(last))
        return { calls: [{ name: 'state_get', arguments: { key: 'findings' } }] };
      const done = last.split(`${name}: task`).length - 1;
      if (done === TASKS) return { text: `${name} has done ${done} tasks.` };
      const items = [`${name}: task ${done + 1}`];
      return { calls: [{ name: 'state_append', arguments: { key: 'findings', items } }] };
    }),
  );

/** The storage of one process, and the sessions in it. */
function openShared() {
  const storage = new FileStorage('memory');
  return { storage, shared: new SharedSessions(storage) };
}

/** Runs the agent of a child session. Its tools change the state of the root in the name of this session. */
async function work({ storage, shared }: ReturnType<typeof openShared>, child: string, onResult = () => {}) {
  const agent = await openAgent(child, {
    model: modelOf(child),
    storage,
    tools: sharedStateTools({ state: await shared.stateOf(child), session: child }),
  });
  agent.events.on('tool_result', onResult);
  const isIdle = agent.memory.frontier.kind === 'idle';
  const turn = isIdle ? await agent.send('Do your tasks.') : await agent.resume();
  console.log(turn.text);
  await agent.stop();
  await shared.tree.setStatus(child, 'finished');
}

await lives(
  async (die) => {
    const opened = openShared();
    await opened.shared.tree.create({ id: 'lead', status: 'running' });
    for (const id of ['builder', 'tester'])
      await opened.shared.tree.create({ id, parent: 'lead', agent: id, status: 'running' });
    let results = 0;
    await work(opened, 'tester', () => void (++results === 6 && die()));
  },
  async () => {
    const opened = openShared();
    await Promise.all([work(opened, 'builder'), work(opened, 'tester')]); // in one process or in several

    const state = await opened.shared.stateOf('lead');
    const findings = (await state.get('findings'))?.value as string[];
    console.log(`${findings.length} findings, of which different: ${new Set(findings).size}`);

    // Both want to write the report. Compare-and-set lets one of them.
    const claims = ['builder', 'tester'].map(async (by) => {
      await state.set('report', by, { by, ifVersion: 0 }); // only if the key has no value
      return `${by} writes the report`;
    });
    for (const claim of await Promise.allSettled(claims)) {
      if (claim.status === 'fulfilled') console.log(claim.value);
      else if (isRekindleError(claim.reason, 'DOCUMENT_CONFLICT'))
        console.log('the other one comes too late');
      else throw claim.reason;
    }

    const { changes } = await state.changes({ limit: 3 });
    for (const { globalVersion, by, key } of changes) console.log(`change ${globalVersion}: ${key} by ${by}`);
    for (const { id, status } of await opened.shared.tree.list({ root: 'lead' }))
      console.log(`${id}: ${status}`);

    assert.equal(new Set(findings).size, 2 * TASKS);
    assert.equal(findings.length, 2 * TASKS); // no update is lost, none is made twice
    await opened.shared.close();
    await opened.storage.close();
  },
);
