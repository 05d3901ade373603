/** The data keys of sessions: lost, wrong, worn out, exchanged. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  bytesIn,
  CANARY,
  contextOf,
  environmentKeys,
  errorOf,
  K1,
  K2,
  serviceIn,
  sessionFolder,
  temporaryFolder,
  textOf,
} from './encryption-kit.js';

const one = environmentKeys(K1);

async function store(...steps: readonly number[]): Promise<string> {
  const root = await temporaryFolder();
  const service = serviceIn(root, { masterKeys: one });
  for (const step of steps) await service.save({ sessionId: 's', context: contextOf(step) });
  await service.close();
  return root;
}
const keysFile = (root: string, session = 's') => path.join(sessionFolder(root, session), 'keys.json');

describe('without the right master key', () => {
  it('nothing is read, nothing is saved and nothing changes; with it everything is there', async () => {
    const root = await store(1, 2);
    const before = await bytesIn(root);
    for (const masterKeys of [environmentKeys(K2), environmentKeys(), environmentKeys('nonsense')]) {
      const attempts = [
        serviceIn(root, { masterKeys }).load({ sessionId: 's' }),
        serviceIn(root, { masterKeys }).load({ checkpointId: 's@1' }),
        serviceIn(root, { masterKeys }).view({ sessionId: 's', budget: 100 }),
        serviceIn(root, { masterKeys }).diff('s@1', 's@2'),
        serviceIn(root, { masterKeys }).save({ sessionId: 's', context: contextOf(3) }),
        serviceIn(root, { masterKeys }).save({ sessionId: 's', context: contextOf(2) }),
        serviceIn(root, { masterKeys }).markCritical({ checkpointId: 's@1' }),
        serviceIn(root, { masterKeys }).delete('s@1'),
      ];
      for (const error of await Promise.all(attempts.map(errorOf))) {
        expect(error.code).toBe('KEY_UNAVAILABLE');
        const text = textOf(error);
        for (const secret of [K1, K2, CANARY, 'nonsense', Buffer.from(K1, 'hex').toString('base64')])
          expect(text).not.toContain(secret);
      }
    }
    expect(await bytesIn(root)).toEqual(before);
    const { context } = await serviceIn(root, { masterKeys: one }).load({ sessionId: 's' });
    expect(context).toEqual(contextOf(2));
  });

  it('verify tells that the session cannot be checked', async () => {
    const root = await store(1);
    const { ok, problems } = await serviceIn(root, { masterKeys: environmentKeys(K2) }).verify();
    expect(ok).toBe(false);
    expect(new Set(problems.map(({ code }) => code))).toEqual(new Set(['KEY_UNAVAILABLE']));
  });

  it('prune removes no data', async () => {
    const root = await store(1, 2);
    const before = await bytesIn(root);
    await serviceIn(root, { masterKeys: environmentKeys(K2) }).prune({
      maxCheckpoints: 1,
      orphanGraceMinutes: 0,
    });
    expect(await bytesIn(root)).toEqual(before);
  });
});

describe('keys.json', () => {
  it('of another session is refused', async () => {
    const root = await store(1);
    await serviceIn(root, { masterKeys: one }).save({ sessionId: 'other', context: contextOf(1) });
    await fs.copyFile(keysFile(root, 'other'), keysFile(root));
    const service = serviceIn(root, { masterKeys: one });
    expect((await errorOf(service.load({ sessionId: 's' }))).code).toBe('KEY_UNAVAILABLE');
    expect((await errorOf(service.save({ sessionId: 's', context: contextOf(2) }))).code).toBe(
      'KEY_UNAVAILABLE',
    );
    expect((await service.load({ sessionId: 'other' })).context).toEqual(contextOf(1));
  });

  it('that was lost is not replaced by a new one', async () => {
    const root = await store(1);
    await fs.rename(keysFile(root), `${root}/kept`);
    const saving = serviceIn(root, { masterKeys: one }).save({ sessionId: 's', context: contextOf(2) });
    expect((await errorOf(saving)).code).toBe('KEY_UNAVAILABLE');
    await expect(fs.stat(keysFile(root))).rejects.toMatchObject({ code: 'ENOENT' });
    await fs.rename(`${root}/kept`, keysFile(root));
    expect((await serviceIn(root, { masterKeys: one }).load({ sessionId: 's' })).context).toEqual(
      contextOf(1),
    );
  });

  it('that is lost while the session is open is not replaced by one without the keys in use', async () => {
    const root = await store(1);
    const service = serviceIn(root, { masterKeys: one });
    await service.load({ sessionId: 's' });
    await fs.rename(keysFile(root), `${root}/kept`);
    await service.save({ sessionId: 's', context: contextOf(2) }).catch(() => {});
    const isThere = await fs.stat(keysFile(root)).then(
      () => true,
      () => false,
    );
    if (!isThere) return;
    const { context } = await serviceIn(root, { masterKeys: one }).load({ checkpointId: 's@1' });
    expect(context).toEqual(contextOf(1));
  });

  it.each([
    '',
    '{}',
    '{"format":1,"keys":[]}',
    '{"format":1,"keys":[{"id":"a","master":"b","wrapped":"c"}]}',
    '{"format":1,"keys":[{"id":"a","master":"b","from":1,"wrapped":"c"}]}',
    '{"format":1,"keys":[{"id":"a","master":"b","from":0,"wrapped":"c"}]}',
  ])('that is damaged is told, and stays as it is: %j', async (text) => {
    const root = await store(1);
    await fs.writeFile(keysFile(root), text);
    const service = serviceIn(root, { masterKeys: one });
    expect((await errorOf(service.load({ sessionId: 's' }))).code).toBe('KEY_UNAVAILABLE');
    expect((await errorOf(service.save({ sessionId: 's', context: contextOf(2) }))).code).toBe(
      'KEY_UNAVAILABLE',
    );
    expect(await fs.readFile(keysFile(root), 'utf8')).toBe(text);
  });

  it('says from which record on all are sealed, and is refused where that was changed', async () => {
    const root = await temporaryFolder();
    await serviceIn(root, { config: {} }).save({ sessionId: 's', context: contextOf(1) });
    await serviceIn(root, { masterKeys: one }).save({ sessionId: 's', context: contextOf(2) });
    const text = await fs.readFile(keysFile(root), 'utf8');
    const { keys } = JSON.parse(text) as { keys: { from: number }[] };
    expect(keys.map(({ from }) => from)).toEqual([2]);
    const fresh = () => serviceIn(root, { masterKeys: one });
    for (const step of [1, 2])
      expect((await fresh().load({ checkpointId: `s@${step}` })).context).toEqual(contextOf(step));
    expect((await fresh().verify()).problems).toEqual([]);
    for (const from of [1, 3, 100]) {
      await fs.writeFile(keysFile(root), JSON.stringify({ format: 1, keys: [{ ...keys[0], from }] }));
      expect((await errorOf(fresh().load({ checkpointId: 's@2' }))).code).toBe('KEY_UNAVAILABLE');
      expect((await fresh().verify()).ok).toBe(false);
    }
  });

  it('gets another key when one was used often enough, and what both sealed is read', async () => {
    const root = await temporaryFolder();
    const service = serviceIn(root, { masterKeys: one, messagesPerKey: 2 });
    for (const step of [1, 2, 3, 4, 5]) await service.save({ sessionId: 's', context: contextOf(step) });
    const { keys } = JSON.parse(await fs.readFile(keysFile(root), 'utf8')) as { keys: { id: string }[] };
    expect(new Set(keys.map(({ id }) => id)).size).toBe(3);
    const fresh = serviceIn(root, { masterKeys: one });
    for (const step of [1, 2, 3, 4, 5])
      expect((await fresh.load({ checkpointId: `s@${step}` })).context).toEqual(contextOf(step));
    expect((await fresh.verify()).problems).toEqual([]);
  });
});

describe('an encrypted store', () => {
  it('has nothing of a context in plain text; only names and tags can be read', async () => {
    const root = await temporaryFolder();
    const service = serviceIn(root, {
      masterKeys: one,
      config: { encryption: { enabled: true }, compression: { enabled: false } },
    });
    const context = { ...contextOf(1), [`key ${CANARY}`]: CANARY };
    const metadata = { name: 'a name', tags: ['a tag'] };
    await service.save({ sessionId: 's', context, metadata });
    await service.save({ sessionId: 's', context: { ...context, more: CANARY } });
    await service.load({ sessionId: 's' });
    const all = [...(await bytesIn(root))].flat().join('\n');
    expect(all).not.toContain(CANARY);
    expect(all).not.toContain(K1);
    expect(all).toContain('a name');
    expect(all).toContain('a tag');
  });

  it('has no digest of a context that somebody who guesses it could compute', async () => {
    const root = await temporaryFolder();
    const plain = await serviceIn(await temporaryFolder(), { config: {} }).save({
      sessionId: 's',
      context: contextOf(1),
    });
    await serviceIn(root, { masterKeys: one }).save({ sessionId: 's', context: contextOf(1) });
    const all = [...(await bytesIn(root))].flat().join('\n');
    expect(all).not.toContain(plain.metadata.contextHash);
    expect(all).not.toContain(plain.metadata.blobDigest);
  });

  it('stays encrypted when the configuration says otherwise', async () => {
    const root = await store(1);
    const service = serviceIn(root, { masterKeys: one, config: { encryption: { enabled: false } } });
    const saved = await service.save({ sessionId: 's', context: contextOf(2) });
    expect(saved.metadata.encrypted).toBe(true);
    expect([...(await bytesIn(root)).values()].join('\n')).not.toContain(CANARY);
    const withoutKey = serviceIn(root, {
      masterKeys: environmentKeys(),
      config: { encryption: { enabled: false } },
    });
    const saving = withoutKey.save({ sessionId: 's', context: contextOf(3) });
    expect((await errorOf(saving)).code).toBe('KEY_UNAVAILABLE');
  });
});
