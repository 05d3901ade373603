/** Durable documents over HTTP: reading writes nothing, and a change is checked as everywhere. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isRekindleError } from '../../src/core/errors.js';
import type { JsonObject, JsonValue } from '../../src/core/json.js';
import { TokenBook } from '../../src/server/access/token-book.js';
import { startServer } from '../../src/server/rekindle-server.js';
import { agentState } from '../../src/state/durable/documents/agent-state.js';
import { taskBoard } from '../../src/state/durable/documents/task-board.js';
import { StateManager } from '../../src/state/durable/state-manager.js';
import { MemoryStorage } from '../../src/storage/memory/memory-storage.js';
import { folderPrint, MERGE_TYPE, type ServerKit, serverKit, TOKEN } from './server-kit.js';

const TASK = { id: 'T-001', goal: 'Parse', owner: 'builder', acceptance: ['npm test'], status: 'todo' };
const BOARD = '/documents/task_board';

async function withBoard(): Promise<{ kit: ServerKit; board: StateManager<JsonObject> }> {
  const kit = await serverKit();
  const board = new StateManager<JsonObject>({ ...taskBoard, backend: kit.backend });
  onTestFinished(() => board.close());
  await board.load();
  await board.patch({ tasks: [TASK] }, { by: 'planner', why: 'first' });
  return { kit, board };
}

function patch(kit: ServerKit, body: JsonValue, headers: Record<string, string> = {}, query = '') {
  return kit.call('PATCH', `${BOARD}${query}`, { body, headers: { 'Content-Type': MERGE_TYPE, ...headers } });
}

async function edit(kit: ServerKit, change: (document: JsonObject) => void): Promise<void> {
  const file = path.join(kit.dir, 'state', 'task_board.json');
  const document = JSON.parse(await fs.readFile(file, 'utf8')) as JsonObject;
  change(document);
  await sleep(12);
  await fs.writeFile(file, JSON.stringify(document, null, 2));
}

describe('a durable document over HTTP', () => {
  it('is read with its version as the ETag, now and at an older version', async () => {
    const { kit } = await withBoard();
    const now = await kit.get(BOARD);
    expect([now.status, now.headers.etag]).toEqual([200, '"2"']);
    expect(now.json).toMatchObject({
      ...{ name: 'task_board', version: 2, event: 'updated', updated_by: 'planner', why: 'first' },
      value: { tasks: [TASK] },
      file: 'in_step',
    });
    const then = await kit.get(`${BOARD}?at=1`);
    expect(then.json).toMatchObject({ version: 1, event: 'created', value: { tasks: [] } });
    expect((await kit.get(BOARD, { 'If-None-Match': '"2"' })).status).toBe(304);
    expect((await kit.get(`${BOARD}?at=3`)).json).toMatchObject({ status: 404, code: 'STATE_NOT_FOUND' });
  });

  it('is changed by a merge patch, in the name of the caller, with a reason', async () => {
    const { kit, board } = await withBoard();
    const changed = await patch(kit, { tasks: [] }, {}, '?why=start%20again');
    expect([changed.status, changed.headers.etag]).toEqual([200, '"3"']);
    expect(changed.json).toMatchObject({ version: 3, value: { schema_version: 1, tasks: [] } });
    expect(await board.load()).toMatchObject({ version: 3, by: 'owner', why: 'start again' });
  });

  it('is changed only at the version of If-Match, else it answers with the current one', async () => {
    const { kit, board } = await withBoard();
    const refused = await patch(kit, { tasks: [] }, { 'If-Match': '"1"' });
    expect(refused.status).toBe(409);
    expect(refused.json).toMatchObject({
      ...{ code: 'DOCUMENT_CONFLICT', error: 'version_conflict', current_version: 2, your_version: 1 },
    });
    expect((await board.load()).version).toBe(2);
    expect((await patch(kit, { tasks: [] }, { 'If-Match': 'W/"2"' })).status).toBe(200);
    for (const headers of [{ 'If-Match': '"1", "2"' }, { 'If-None-Match': '*' }])
      expect((await patch(kit, {}, headers as never)).status).toBe(400);
  });

  it('is not changed to what its schema refuses, and says each violation', async () => {
    const { kit, board } = await withBoard();
    const { status, json } = await patch(kit, { tasks: [{ ...TASK, status: 'maybe' }] });
    expect([status, json['code']]).toEqual([422, 'STATE_INVALID']);
    const { violations } = json['details'] as { violations: JsonObject[] };
    expect(violations).toContainEqual(expect.objectContaining({ path: '/tasks/0/status', rule: 'enum' }));
    expect((await board.load()).version).toBe(2);
  });

  it('waits for a person who has just edited it, and says how long', async () => {
    const { kit } = await withBoard();
    await edit(kit, (document) => void (document['tasks'] = []));
    expect((await kit.get(BOARD)).json).toMatchObject({ version: 2, file: 'adopt' });
    const { status, json, headers } = await patch(kit, { tasks: [TASK] });
    expect([status, json['code']]).toEqual([409, 'HUMAN_EDIT']);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect((await kit.get(BOARD)).json).toMatchObject({
      version: 3,
      updated_by: 'human',
      value: { tasks: [] },
    });
  });

  it('shows the mistakes of an edit by a person, with their places', async () => {
    const { kit } = await withBoard();
    await edit(kit, (document) => void (document['tasks'] = 'none'));
    const { json } = await kit.get(BOARD);
    expect(json).toMatchObject({ version: 2, file: 'edit_refused', problems: [{ line: 3, path: '/tasks' }] });
    expect((await patch(kit, { tasks: [] })).json).toMatchObject({ status: 409, code: 'HUMAN_EDIT' });
  });

  it('has a history in pages, newest first', async () => {
    const { kit, board } = await withBoard();
    for (let n = 0; n < 4; n += 1) await board.patch({ id: `T-10${n}` }, { pointer: '/tasks/0' });
    const first = (await kit.get(`${BOARD}/history?limit=4`)).json as {
      events: JsonObject[];
      before: number;
    };
    expect(first.events.map(({ version }) => version)).toEqual([6, 5, 4, 3]);
    expect(first.events[0]!['changes']).toEqual([{ op: 'replace', path: '/tasks/0/id', value: 'T-103' }]);
    const rest = await kit.get(`${BOARD}/history?limit=4&before=${first.before}`);
    expect(rest.json).toMatchObject({
      events: [
        { version: 2, updated_by: 'planner', why: 'first' },
        { version: 1, event: 'created' },
      ],
      before: null,
    });
  });

  it('is listed with its standing, also where no definition is known', async () => {
    const { kit } = await withBoard();
    await fs.writeFile(path.join(kit.dir, 'state', 'notes.json'), '{}');
    const { documents } = (await kit.get('/documents')).json as { documents: JsonObject[] };
    expect(documents).toMatchObject([
      { name: 'notes', version: null, file: 'no_definition' },
      { name: 'task_board', version: 2, schema_version: 1, updated_by: 'planner', file: 'in_step' },
    ]);
    expect((await kit.get('/documents/notes')).status).toBe(404);
    expect((await kit.get(`${BOARD}/schema`)).json).toEqual(taskBoard.schema);
  });

  it('is never created or changed by reading', async () => {
    const { kit } = await withBoard();
    await edit(kit, (document) => void (document['tasks'] = []));
    const before = await folderPrint(kit.dir);
    for (const target of ['/documents', BOARD, `${BOARD}?at=1`, `${BOARD}/history`, '/documents/agent_state'])
      await kit.get(target);
    expect(await folderPrint(kit.dir)).toEqual(before);
    const created = await kit.call('PATCH', '/documents/agent_state', {
      body: {},
      headers: { 'Content-Type': MERGE_TYPE },
    });
    expect(created.status).toBe(404);
    expect(await folderPrint(kit.dir)).toEqual(before);
  });

  it('needs a token with access to everything, and the right to write for a change', async () => {
    const { kit } = await withBoard();
    const book = new TokenBook(kit.backend);
    const scope = { roots: [], session: null, mayWrite: true } as const;
    const { token } = await book.create({ ...scope, agents: ['ada'] });
    const reader = await book.create({ ...scope, agents: 'all', roots: 'all', mayWrite: false });
    expect((await kit.get(BOARD, { Authorization: `Bearer ${token}` })).status).toBe(403);
    const headers = { Authorization: `Bearer ${reader.token}` };
    expect((await kit.get(BOARD, headers)).status).toBe(200);
    expect((await patch(kit, { tasks: [] }, headers)).status).toBe(403);
  });

  it('of a kind of the host is served with its definition', async () => {
    const kit = await serverKit({ definitions: [agentState] });
    await (await StateManager.open({ ...agentState, name: 'agent_state.ada', backend: kit.backend })).close();
    await (await StateManager.open({ ...taskBoard, backend: kit.backend })).close();
    expect((await kit.get('/documents/agent_state.ada')).json).toMatchObject({ version: 1 });
    expect((await kit.get(BOARD)).status).toBe(404);
  });

  it('that is to be a tool and does not exist keeps the server from starting', async () => {
    const options = { backend: new MemoryStorage(), token: TOKEN, port: 0, mcpDocuments: ['task_board'] };
    const thrown = await startServer(options).catch((error: unknown) => error);
    expect(isRekindleError(thrown, 'STATE_NOT_FOUND')).toBe(true);
  });
});
