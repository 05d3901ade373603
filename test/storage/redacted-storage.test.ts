import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RekindleSession } from '../../src/adapters/openai-agents/index.js';
import { openWorkingContext } from '../../src/agent/context/open-working-context.js';
import type { WorkingContext } from '../../src/agent/context/working-context.js';
import { openAgent } from '../../src/agent/factory/agent-factory.js';
import { ScriptedModel } from '../../src/agent/model/scripted-model.js';
import { CheckpointService } from '../../src/checkpoints/checkpoint-service.js';
import type { JsonObject } from '../../src/core/json.js';
import { ARGUMENTS_GONE } from '../../src/memory/store/given-arguments.js';
import { WorkingContextSnapshotStore } from '../../src/memory/store/working-context-snapshot-store.js';
import { agentState } from '../../src/state/durable/documents/agent-state.js';
import { StateManager } from '../../src/state/durable/state-manager.js';
import { SharedState } from '../../src/state/shared/shared-state.js';
import { copyStorage } from '../../src/storage/copy-storage.js';
import { LocalObjects } from '../../src/storage/objects/local-objects.js';
import { withObjects } from '../../src/storage/objects/object-backend.js';
import { openStorage } from '../../src/storage/open-storage.js';
import type { StorageBackend } from '../../src/storage/ports.js';
import { withRedaction } from '../../src/storage/redacted-storage.js';
import { Plans } from '../../src/workspace/plans.js';
import { SessionManager } from '../../src/workspace/sessions/session-manager.js';
import { ToolCallLog } from '../../src/workspace/tool-calls/tool-call-log.js';
import { Workspace } from '../../src/workspace/workspace.js';
import { agentFixture, callsWork, gate, outline, storageAfterKill, tool } from '../agent/agent-fixture.js';
import { environmentKeys, K1 } from '../checkpoints/encryption/encryption-kit.js';
import { legacyMessage, legacySnapshot } from '../memory/restore/legacy.js';

const KEY = 'ghp_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R';
const MAIL = 'ann.lee@mail.example.org';
const SAID = `My key is ${KEY}, write to ${MAIL}.`;
const STORED = 'My key is [redacted:github-token], write to [redacted:email].';

let folder: string;
let storage: StorageBackend;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rekindle-redacted-'));
  storage = withRedaction(openStorage(`file:${folder}`), { personal: true });
});
afterEach(async () => {
  await storage.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Files with one of the secrets in their bytes. */
function leaks(): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(folder, name)).isFile())
    .filter((name) => {
      const bytes = readFileSync(join(folder, name), 'latin1');
      return bytes.includes(KEY) || bytes.includes(MAIL);
    });
}

describe('an agent on a redacted store', () => {
  it('never has what is sensitive in a file, and restores to the context that it had', async () => {
    const ctx = await openWorkingContext({ agentId: 'desk', system: `Mail ${MAIL}`, storage });
    await ctx.beginTurn(SAID);
    await answered(ctx, `Noted: ${KEY}`);
    expect(ctx.memory.getWorkingContextMessages()[1]?.content).toBe(STORED);
    const live = ctx.memory.getWorkingContextMessages();
    await ctx.close();
    const again = await openWorkingContext({ agentId: 'desk', storage });
    expect(again.memory.getWorkingContextMessages()).toStrictEqual(live);
    await again.close();
    expect(leaks()).toStrictEqual([]);
  });

  it('runs a tool with the arguments as they were given, and shows the model its result as it is stored', async () => {
    const seen: unknown[] = [];
    const model = new ScriptedModel([
      { calls: [{ id: 'c1', name: 'login', arguments: { password: 'horse-battery-9', note: SAID } }] },
      { text: 'Done.' },
    ]);
    const login = {
      name: 'login',
      description: 'Logs in.',
      inputSchema: { type: 'object' },
      execute: (args: JsonObject) => {
        seen.push(args);
        return { said: SAID, large: `${SAID} `.repeat(2_000) };
      },
    };
    const agent = await openAgent('desk', { model, systemPrompt: 'Hi.', tools: [login], storage });
    await agent.send('Log in.');
    expect(seen).toStrictEqual([{ password: 'horse-battery-9', note: SAID }]);
    expect(JSON.stringify(model.requests.at(-1))).toContain('[redacted:github-token]');
    expect(JSON.stringify(model.requests)).not.toContain(KEY);
    await agent.stop();
    expect(leaks()).toStrictEqual([]);
  });

  it('knows the arguments of an open call in this process, and in a later one that they are gone', async () => {
    const call = { id: 'c1', name: 'login', arguments: { password: 'horse-battery-9' } };
    const ctx = await openWorkingContext({ agentId: 'desk', system: 'Hi.', storage });
    await ctx.beginTurn('Log in.');
    const response = {
      choices: [
        {
          message: {
            role: 'assistant',
            content: null,
            tool_calls: [
              {
                id: 'c1',
                type: 'function',
                function: { name: 'login', arguments: '{"password":"horse-battery-9"}' },
              },
            ],
          },
          finish_reason: 'tool_calls',
        },
      ],
    };
    const answer = await ctx.recordResponse('openai-chat', response);
    expect(answer.toolCalls[0]?.arguments).toStrictEqual(call.arguments);
    const spec = ctx.memory.openCalls()[0]!;
    expect(spec.call.arguments).toStrictEqual({ password: '[redacted:password]' });
    // A loop that reads the call from the list, as after an approval, passes masks on.
    const seen: unknown[] = [];
    const login = { execute: (input: unknown) => seen.push(input) };
    const guarded = ctx.guardTools({ login }).login.execute as unknown as (
      ...given: unknown[]
    ) => Promise<unknown>;
    await guarded(spec.call.arguments, { toolCallId: 'c1', messages: [] });
    expect(seen).toStrictEqual([call.arguments]);
    expect(ctx.memory.store.given.of(spec.turnId!, spec.call)).toBeUndefined(); // no longer needed
    ctx.memory.store.given.note({ type: 'tool_call', turnId: 'turn_0009', call } as never);
    expect(ctx.memory.store.given.of('turn_0009', spec.call)).toStrictEqual(call.arguments);
    const later = withRedaction(openStorage(`file:${folder}`));
    await ctx.close();
    const again = await openWorkingContext({ agentId: 'desk', storage: later });
    expect(again.memory.store.given.of(spec.turnId!, spec.call)).toBeUndefined();
    await again.close();
    await later.close();
  });

  it('does not run a call whose arguments an earlier process had, and tells the model', async () => {
    const fixture = await agentFixture();
    const asked = gate();
    const seen: unknown[] = [];
    const work = tool({ needsApproval: true, execute: (args) => seen.push(args) });
    const approve = () => {
      asked.open();
      return new Promise<boolean>(() => {});
    };
    const config = { tools: [work], storage: withRedaction(openStorage(`file:${fixture.dir}`)) };
    const calls = callsWork({ password: 'horse-battery-9' }, { plain: 1 });
    const crashed = await fixture.started([calls], { ...config, approve });
    crashed.send('go').catch(() => {});
    await asked.opened;
    const later = { tools: [work], storage: withRedaction(storageAfterKill(fixture.dir)) };
    const agent = fixture.restored([{ text: 'ok' }], { ...later, approve: () => true });
    await agent.start();
    await agent.resume();
    expect(outline(agent.messages)).toEqual([
      'user: go',
      'call: work{"password":"[redacted:password]"}',
      'call: work{"plain":1}',
      `error: ${ARGUMENTS_GONE}`,
      'result: 1',
      'assistant: ok',
    ]);
    expect(seen).toStrictEqual([{ plain: 1 }]);
  });

  it('gives the SDK an output for its model that is redacted, too', async () => {
    const ctx = await openWorkingContext({ agentId: 'desk', system: 'Hi.', storage });
    await ctx.beginTurn('Look.');
    const bytes = new Uint8Array([1, 2, 3]);
    const look = {
      execute: () => ({ said: SAID, bytes }),
      toModelOutput: ({ output }: { output: { said: string } }) => ({ type: 'text', value: output.said }),
    };
    const execute = ctx.guardTools({ look }).look.execute as unknown as (
      ...given: unknown[]
    ) => Promise<unknown>;
    expect(await execute({}, { toolCallId: 'c1', messages: [] })).toStrictEqual({ said: STORED, bytes });
    await ctx.close();
    expect(leaks()).toStrictEqual([]);
  });

  it('restores a foreign folder to the context that it had at the first time', async () => {
    const agent = join(folder, 'agents', 'agent-a');
    mkdirSync(agent, { recursive: true });
    const snapshot = legacySnapshot([legacyMessage('system', 'Hi.'), legacyMessage('user', SAID)]);
    writeFileSync(join(agent, 'working_context_snapshot.json'), snapshot);
    const ctx = await openWorkingContext({ agentId: 'agent-a', storage });
    await ctx.beginTurn('More.');
    await ctx.endTurn([{ role: 'assistant', content: 'Yes.' }] as never);
    const live = ctx.memory.getWorkingContextMessages();
    expect(live.map(({ content }) => content)).toStrictEqual(['Hi.', STORED, 'More.', 'Yes.']);
    await ctx.close();
    for (const ignoreCache of [false, true]) {
      const again = await openWorkingContext({ agentId: 'agent-a', storage, restore: { ignoreCache } });
      expect(again.memory.getWorkingContextMessages()).toStrictEqual(live);
      await again.close();
    }
  });

  it('knows a turn of the host again by what is stored of it', async () => {
    const ctx = await openWorkingContext({ agentId: 'desk', system: 'Hi.', storage });
    await ctx.beginTurn(SAID);
    const turn = [
      { role: 'user', content: SAID },
      { role: 'assistant', content: `You said ${MAIL}` },
    ];
    await ctx.step(turn as never);
    await ctx.endTurn(turn as never);
    const texts = ctx.memory.getWorkingContextMessages().map(({ content }) => content);
    expect(texts).toStrictEqual(['Hi.', STORED, 'You said [redacted:email]']);
    await ctx.close();
  });

  it('refuses what may not be stored, and nothing of it is written', async () => {
    const strict = withRedaction(openStorage(`file:${folder}`), { action: 'refuse' });
    const ctx = await openWorkingContext({ agentId: 'desk', system: 'Hi.', storage: strict });
    await expect(ctx.beginTurn(SAID)).rejects.toMatchObject({
      code: 'SENSITIVE_DATA',
      details: { kind: 'github-token' },
    });
    await ctx.close();
    await strict.close();
    expect(leaks()).toStrictEqual([]);
  });
});

describe('a redacted store', () => {
  it('keeps nothing sensitive of states, shared states, entries, plans, tool calls and checkpoints', async () => {
    const shared = new SharedState(storage, { root: 'r' });
    await shared.set('note', SAID);
    await shared.set('api_key', '0f1e2d3c4b5a69788796');
    await shared.batch([
      { op: 'append', key: 'list', items: [SAID] },
      { op: 'merge', key: 'map', patch: { said: SAID } },
    ]);
    await shared.patch({ map: { again: SAID } });
    expect((await shared.get('note'))?.value).toBe(STORED);
    expect((await shared.get('api_key'))?.value).toBe('[redacted:secret]');
    await shared.close();

    const states = await StateManager.open({
      ...agentState,
      initial: { ...(agentState.initial as JsonObject), next_action: SAID },
      backend: storage,
    });
    expect((await states.load()).value).toMatchObject({ next_action: STORED });
    await states.update((draft) => {
      draft.next_action = `${SAID}!`;
    });
    expect((await states.load()).value).toMatchObject({ next_action: `${STORED}!` });
    const file = join(folder, 'state', `${agentState.name}.json`);
    writeFileSync(file, readFileSync(file, 'utf8').replace(`${STORED}!`, `${MAIL} by hand`));
    expect((await states.load()).value).toMatchObject({ next_action: '[redacted:email] by hand' });
    const shown = readFileSync(file, 'utf8');
    await states.update(
      (draft) => {
        draft.next_action = 'of an agent';
      },
      { by: 'human' },
    );
    writeFileSync(file, shown.replace('[redacted:email] by hand', `${MAIL}, too late`));
    expect((await states.load()).value).toMatchObject({ next_action: 'of an agent' });
    expect(readdirSync(join(folder, 'state', 'backups'))).toHaveLength(1); // what the person saved
    await states.close();

    const workspace = new Workspace(storage);
    await workspace.write('note', { said: SAID });
    expect((await workspace.read('note'))?.value).toStrictEqual({ said: STORED });
    await workspace.close();
    await new Plans(storage, ['workspace']).write(`# Plan\n${SAID}`);

    const log = new ToolCallLog(storage);
    const call = { callId: 'c', tool: 't', agent: 'a', turnId: 'turn_0001', startedMs: 1, durationMs: 1 };
    await log.record({ ...call, input: { said: SAID }, output: `${SAID} `.repeat(2_000), error: null });
    await log.close();

    const checkpoints = new CheckpointService({ backend: storage });
    const { checkpointId } = await checkpoints.save({ sessionId: 's', context: { said: SAID } });
    expect((await checkpoints.load({ checkpointId })).context).toStrictEqual({ said: STORED });
    await checkpoints.close();
    expect(leaks()).toStrictEqual([]);
  });

  it('keeps nothing sensitive of session states and of snapshots that a host writes', async () => {
    const sessions = new SessionManager(storage);
    const { id } = await sessions.create();
    const agent = { name: 'desk', agentId: 'desk', state: { said: SAID } };
    expect((await sessions.saveAgentState(id, agent)).state).toStrictEqual({ said: STORED });
    await sessions.close();
    const snapshots = new WorkingContextSnapshotStore(storage, 'desk');
    await snapshots.write('desk', { said: SAID });
    expect(await snapshots.read()).toStrictEqual({ said: STORED });
    expect(leaks()).toStrictEqual([]);
  });

  it('shows the items of an adapter as a later process reads them', async () => {
    const open = () => new RekindleSession({ sessionId: 'chat', storage });
    const session = open();
    await session.addItems([{ type: 'message', role: 'user', content: SAID }]);
    const items = await session.getItems();
    await session.close();
    const again = open();
    expect(await again.getItems()).toStrictEqual(items);
    await again.close();
    expect(JSON.stringify(items)).toContain('[redacted:github-token]');
    expect(leaks()).toStrictEqual([]);
  });

  it.each([false, true])(
    'has labels and marks of checkpoints that verify, encrypted: %s',
    async (enabled) => {
      const masterKeys = environmentKeys(K1);
      const open = () =>
        new CheckpointService({ backend: storage, masterKeys, config: { encryption: { enabled } } });
      const service = open();
      const { checkpointId } = await service.save({
        sessionId: 's',
        context: { said: SAID },
        metadata: { name: `of ${MAIL}`, tags: [MAIL] },
      });
      await service.close();
      const again = open();
      expect((await again.verify()).ok).toBe(true);
      const { context, metadata } = await again.load({ checkpointId });
      expect(context).toStrictEqual({ said: STORED });
      expect(metadata).toMatchObject({ name: 'of [redacted:email]', tags: ['[redacted:email]'] });
      await again.close();
      expect(leaks()).toStrictEqual([]);
    },
  );

  it('redacts large artifacts also when an object store is put over it', async () => {
    const objects = new LocalObjects(join(folder, 'objects'));
    const over = withObjects(storage, objects, { fromBytes: 10 });
    const { digest } = await over.blobs(['agents', 'desk', 'artifacts']).put(Buffer.from(SAID));
    expect(Buffer.from((await over.blobs(['agents', 'desk', 'artifacts']).get(digest))!).toString()).toBe(
      STORED,
    );
    expect(over.redactor).toBe(storage.redactor);
    expect(leaks()).toStrictEqual([]);
  });

  it('is redacted by both when one redaction is put over another: the live context is the restored one', async () => {
    const open = () =>
      withRedaction(withRedaction(openStorage(`file:${folder}`)), { credentials: false, personal: true });
    const both = open();
    const ctx = await openWorkingContext({ agentId: 'desk', system: 'Hi.', storage: both });
    await ctx.beginTurn(SAID);
    await answered(ctx, 'Yes.');
    const live = ctx.memory.getWorkingContextMessages();
    expect(live[1]?.content).toBe(STORED);
    await ctx.close();
    await both.close();
    const again = await openWorkingContext({ agentId: 'desk', storage });
    expect(again.memory.getWorkingContextMessages()).toStrictEqual(live);
    await again.close();
  });

  it('is named by an address, for credentials, personal data or both', async () => {
    for (const [redact, text] of [
      ['credentials', `My key is [redacted:github-token], write to ${MAIL}.`],
      ['personal', `My key is ${KEY}, write to [redacted:email].`],
      ['credentials,personal', STORED],
    ] as const) {
      const backend = openStorage(`memory:?redact=${redact}`);
      const journal = await backend.openJournal<JsonObject>(['j']);
      await journal.append([{ text: SAID }]);
      const records: JsonObject[] = [];
      for await (const entry of journal.read()) if (entry.kind === 'record') records.push(entry.record);
      expect(records).toStrictEqual([{ text }]);
      await journal.close();
      await backend.close();
    }
    expect(() => openStorage('memory:?redact=all')).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT' }),
    );
  });

  it('is no target of a copy, which keeps every byte', async () => {
    const source = openStorage('memory:');
    await expect(copyStorage(source, storage)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await source.close();
  });

  it('redacts an artifact that is text, and names it by what is stored', async () => {
    const artifacts = storage.blobs(['agents', 'desk', 'artifacts']);
    const { digest } = await artifacts.put(Buffer.from(SAID));
    expect(Buffer.from((await artifacts.get(digest))!).toString()).toBe(STORED);
  });

  it('stores bytes that are not text as they are', async () => {
    const bytes = Buffer.concat([Buffer.from([0xff, 0, 1]), Buffer.from(KEY)]);
    const { digest } = await storage.blobs(['agents', 'desk', 'artifacts']).put(bytes);
    expect(Buffer.from((await storage.blobs(['agents', 'desk', 'artifacts']).get(digest))!)).toStrictEqual(
      bytes,
    );
  });
});

async function answered(ctx: WorkingContext, text: string): Promise<void> {
  await ctx.endTurn([{ role: 'assistant', content: text }] as never);
}
