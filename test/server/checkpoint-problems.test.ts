/** Checkpoints over HTTP that cannot be read now, or not any more, and who may read those that can. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CheckpointService } from '../../src/checkpoints/checkpoint-service.js';
import { isRekindleError } from '../../src/core/errors.js';
import type { JsonObject } from '../../src/core/json.js';
import { FileStorage } from '../../src/storage/file/file-storage.js';
import { EnvironmentKeys } from '../../src/storage/sealing/environment-keys.js';
import { withBlobs } from '../checkpoints/checkpoint-kit.js';
import { checkpointWorld } from './checkpoint-world.js';
import { ask, PROBLEM_TYPE, type ServerKit, serverKit } from './server-kit.js';

const CANARY = 'canary-of-the-context';

/** The server looks for its keys where there are none. */
async function withoutKeys({ dir }: ServerKit): Promise<void> {
  const folder = path.join(dir, 'checkpoints', 'config');
  await fs.mkdir(folder, { recursive: true });
  const config = { encryption: { keyFile: path.join(dir, 'no-keys.json') } };
  await fs.writeFile(path.join(folder, 'checkpoints.json'), JSON.stringify(config));
}

/** Changes one byte in the middle of every pack that was not there before. */
async function damagePacks({ dir }: ServerKit, session: string, but: ReadonlySet<string>): Promise<void> {
  for (const file of await packsOf(dir, session)) {
    if (but.has(file)) continue;
    const bytes = await fs.readFile(file);
    bytes[bytes.length >> 1]! ^= 1;
    await fs.chmod(file, 0o600);
    await fs.writeFile(file, bytes);
  }
}

async function packsOf(dir: string, session: string): Promise<string[]> {
  const folder = path.join(dir, 'checkpoints', 'sessions', session, 'packs');
  const entries = await fs.readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
}

describe('an encrypted session whose key is not here', () => {
  async function locked() {
    const masterKeys = new EnvironmentKeys({ REKINDLE_MASTER_KEY: '11'.repeat(32) });
    const world = await checkpointWorld({ masterKeys, config: { encryption: { enabled: true } } });
    await withoutKeys(world.kit);
    await world.save({ sessionId: 'locked', context: { text: CANARY }, metadata: { tags: ['t'] } });
    await world.save({ sessionId: 'locked', context: { text: CANARY, n: 2 } });
    return world.kit;
  }

  it('is listed, with its checkpoints', async () => {
    const kit = await locked();
    const { sessions } = (await kit.get('/checkpoints/sessions')).json as { sessions: JsonObject[] };
    expect(sessions).toMatchObject([{ id: 'locked', checkpoints: 2, encrypted: true }]);
    for (const query of ['', '?session=locked']) {
      const { status, json } = await kit.get(`/checkpoints${query}`);
      const wanted = { total: 2, checkpoints: [{ id: 'locked@2', encrypted: true }, { tags: ['t'] }] };
      expect([status, json]).toMatchObject([200, wanted]);
    }
    expect((await kit.get('/checkpoints/locked@1')).json).toMatchObject({ id: 'locked@1', encrypted: true });
  });

  it('gives no context and nothing of it: 503, as a key may come', async () => {
    const kit = await locked();
    for (const part of ['context', 'context?budget=50', 'diff/locked@2']) {
      const refused = await kit.get(`/checkpoints/locked@1/${part}`);
      expect([part, refused.status, refused.headers['content-type']]).toEqual([part, 503, PROBLEM_TYPE]);
      expect(refused.json).toMatchObject({ code: 'KEY_UNAVAILABLE', advice: expect.any(String) });
      expect(refused.headers['retry-after']).toBe('1');
      expect(refused.text).not.toContain(CANARY);
    }
    expect(kit.unexpected).toEqual([]);
  });
});

describe('a checkpoint that is damaged', () => {
  it('is a problem of the server with its code, and keeps no other from being read', async () => {
    const { kit, save } = await checkpointWorld();
    await save({ sessionId: 's', context: { text: CANARY } });
    const whole = new Set(await packsOf(kit.dir, 's'));
    await save({ sessionId: 's', context: { text: `${CANARY} and more` } });
    await damagePacks(kit, 's', whole);
    for (const target of ['s@2/context', 's@2/context?budget=50', 's@1/diff/s@2', 's@2/diff/s@1']) {
      kit.unexpected.length = 0;
      const refused = await kit.get(`/checkpoints/${target}`);
      expect([target, refused.status, refused.headers['content-type']]).toEqual([target, 500, PROBLEM_TYPE]);
      expect(refused.json).toMatchObject({
        code: 'CHECKPOINT_DAMAGED',
        detail: expect.stringContaining('s@2'),
        advice: expect.any(String),
        details: { sessionId: 's', number: 2 },
      });
      expect(refused.text).not.toMatch(new RegExp(`${CANARY}|${kit.dir}|node:|\\.[jt]s\\b`));
      expect(kit.unexpected.map((one) => isRekindleError(one, 'CHECKPOINT_DAMAGED'))).toEqual([true]);
    }
    expect((await kit.get('/checkpoints/s@1/context')).json).toMatchObject({ context: { text: CANARY } });
    expect((await kit.get('/checkpoints?session=s')).json['total']).toBe(2);
    expect((await kit.get('/checkpoints/s@2')).status).toBe(200);
  });

  it('whose data is gone is one too', async () => {
    const { kit, save } = await checkpointWorld();
    await save({ sessionId: 's', context: { n: 1 } });
    for (const file of await packsOf(kit.dir, 's')) await fs.rm(file);
    const refused = await kit.get('/checkpoints/s@1/context');
    expect(refused.json).toMatchObject({ status: 500, code: 'CHECKPOINT_DAMAGED' });
  });
});

describe('a storage that does not answer in time', () => {
  it('is 503 with its code, for a list and for a context', async () => {
    const { kit, save } = await checkpointWorld();
    await save({ sessionId: 's', context: { text: CANARY } });
    let free = () => {};
    const held = new Promise<void>((resolve) => (free = resolve));
    onTestFinished(() => free()); // so that the server can close
    const storage = new FileStorage(kit.dir, { durability: 'relaxed' });
    const backend = withBlobs(storage, { beforeGet: () => held });
    const config = { timeouts: { fileMs: 50, queryMs: 50 } };
    const checkpoints = new CheckpointService({ backend, config });
    const slow = await serverKit({ checkpoints });
    const wanted = { status: 503, code: 'STORAGE_UNAVAILABLE', advice: expect.any(String) };
    expect((await slow.get('/checkpoints/s@1/context')).json).toMatchObject(wanted);
    expect((await slow.get('/checkpoints?session=s')).status).toBe(200);
    Object.assign(backend, { openJournal: () => held.then(() => Promise.reject(new RangeError())) });
    const later = await serverKit({ checkpoints: new CheckpointService({ backend, config }) });
    expect((await later.get('/checkpoints?session=s')).json).toMatchObject(wanted);
  });
});

describe('rules that are wrong', () => {
  it('are a problem of a view only: the context itself is given', async () => {
    const { kit, save } = await checkpointWorld();
    await save({ sessionId: 's', context: { n: 1 } });
    await fs.mkdir(path.join(kit.dir, 'checkpoints', 'config'), { recursive: true });
    const rules = { patterns: { CRITICAL: [{ type: 'key_regex', pattern: '(', priority: 1 }] } };
    await fs.writeFile(
      path.join(kit.dir, 'checkpoints', 'config', 'classification.json'),
      JSON.stringify(rules),
    );
    const refused = await kit.get('/checkpoints/s@1/context?budget=50');
    expect(refused.json).toMatchObject({ status: 500, code: 'RULES_INVALID' });
    expect((await kit.get('/checkpoints/s@1/context')).json['context']).toEqual({ n: 1 });
  });
});

describe('every address of checkpoints', () => {
  const TARGETS = ['sessions', 's@1', 's@1/context', 's@1/context?budget=9', 's@1/diff/s@2'];

  it('needs the token, and nothing more', async () => {
    const { kit, save } = await checkpointWorld();
    await save({ sessionId: 's', context: { text: CANARY } });
    await save({ sessionId: 's', context: { text: 'other' }, agentId: 'ada' });
    for (const target of ['/checkpoints', ...TARGETS.map((one) => `/checkpoints/${one}`)]) {
      expect([target, (await kit.get(target)).status]).toEqual([target, 200]);
      for (const authorization of [null, 'Bearer wrong-wrong-wrong-wrong']) {
        const refused = await ask(kit.port, 'GET', target, { headers: { Authorization: authorization } });
        expect([target, refused.status]).toEqual([target, 401]);
        expect(refused.text).not.toContain(CANARY);
      }
    }
  });

  it('only reads: what would change something is not there', async () => {
    const { kit, save } = await checkpointWorld();
    await save({ sessionId: 's', context: { n: 1 } });
    for (const target of ['', '/s@1', '/s@1/context'])
      for (const method of ['PUT', 'POST', 'PATCH', 'DELETE'])
        expect((await kit.call(method, `/checkpoints${target}`)).status).toBe(405);
    expect((await kit.get('/checkpoints/s@1/context')).json['context']).toEqual({ n: 1 });
  });
});
