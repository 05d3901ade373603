/** What a copy of a fixture's agent has to do: the quick tests take some fixtures, the long ones all others. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Expected } from '../../fixtures/making/fixture.js';
import { copyAgent } from '../../src/memory/maintenance/copy-agent.js';
import { FileStorage } from '../../src/storage/file/file-storage.js';
import type { StorageBackend } from '../../src/storage/ports.js';
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.js';
import { stateOf } from '../storage/copy-kit.js';
import {
  contextText,
  folderState,
  type OpenAgent,
  openAgent,
  survivor,
  talk,
  tempFolder,
} from './memory-kit.js';

const FOLDER = fileURLToPath(new URL('../../fixtures/memory', import.meta.url));
export const FIXTURE_NAMES = (await fs.readdir(FOLDER)).sort();

/** Whose traces are damaged in a way that only a repair may decide on, and one that cannot be restored at all. */
export const REFUSED: Readonly<Record<string, string>> = {
  'damaged-everything': 'CONTEXT_BLANK or JOURNAL_DAMAGED',
  'damaged-middle': 'JOURNAL_DAMAGED',
  'damaged-under-cache': 'JOURNAL_DAMAGED',
  'doubled-lines': 'JOURNAL_DAMAGED',
  'edited-by-hand': 'JOURNAL_DAMAGED',
  'missing-line': 'JOURNAL_DAMAGED',
  'newer-schema-only': 'CONTEXT_BLANK',
  'torn-then-appended': 'JOURNAL_DAMAGED',
};

export interface Stores {
  readonly expected: Expected;
  /** Of the source. */
  readonly root: string;
  readonly source: StorageBackend;
  readonly middle: StorageBackend;
  readonly back: StorageBackend;
}

export async function storesOf(fixture: string): Promise<Stores> {
  const text = await fs.readFile(path.join(FOLDER, fixture, 'expected.json'), 'utf8');
  const root = await tempFolder();
  const others = await tempFolder();
  await fs.cp(path.join(FOLDER, fixture, 'agents'), path.join(root, 'agents'), { recursive: true });
  const relaxed = { durability: 'relaxed', identity: survivor } as const;
  const source = new FileStorage(root, relaxed);
  const middle = new SqliteStorage(path.join(others, 'store.db'), { identity: survivor });
  const back = new FileStorage(path.join(others, 'back'), relaxed);
  onTestFinished(async () => {
    for (const storage of [source, middle, back]) await storage.close();
  });
  return { expected: JSON.parse(text) as Expected, root, source, middle, back };
}

function open(storage: StorageBackend, expected: Expected, readOnly: boolean, ignoreCache = false) {
  const restore = { ...expected.restore, ...(ignoreCache ? { ignoreCache } : {}) };
  const place = { storage: () => storage };
  return openAgent(place, { agentId: expected.agentId, system: expected.systemPrompt, restore, readOnly });
}

/** What a restore gives, whatever the store, and wherever it came from. */
function found({ memory, report }: OpenAgent) {
  return {
    context: contextText(memory),
    epochId: report.epochId,
    lastCompactionTs: report.lastCompactionTs,
    frontier: report.frontier,
    interruptedCalls: report.interruptedCalls,
    unknown: report.unknown.length,
    promptChanged: report.promptChanged,
    openCalls: memory.openCalls(),
    nextTurn: memory.startTurn(),
  };
}

async function dryRestore(storage: StorageBackend, expected: Expected, ignoreCache = false) {
  const dry = await open(storage, expected, true, ignoreCache);
  try {
    return found(dry);
  } finally {
    await dry.close();
  }
}

/** A turn, and two restores after it, which must agree: with the cache and without. */
async function goOn(storage: StorageBackend, expected: Expected) {
  const real = await open(storage, expected, false);
  const turn = await talk(real.memory, 'One more thing.', 'Yes?');
  const context = contextText(real.memory);
  await real.close();
  for (const ignoreCache of [false, true]) {
    const next = await open(storage, expected, false, ignoreCache);
    expect(contextText(next.memory)).toBe(context);
    expect(next.report).toMatchObject({ repairs: [], tracesIgnored: 0 });
    await next.close();
  }
  return { turn, context: withoutIds(context) };
}

/** Of one turn in two stores, the ids are two. */
function withoutIds(context: string): string {
  return context.replace(/"message_id":"[^"]+",?/g, '');
}

export function describeCopiedFixtures(names: readonly string[]): void {
  describe.each(names.filter((name) => !(name in REFUSED)))('the agent of fixture %s', (name) => {
    it('is copied to a database and back, and restores to the same there and there', async () => {
      const { expected, root, source, middle, back } = await storesOf(name);
      const before = await folderState(root);
      const there = await dryRestore(source, expected);
      for (const [from, to] of [[source, middle] as const, [middle, back] as const]) {
        const copied = await copyAgent(from, to, expected.agentId);
        expect(copied).toMatchObject({ agentId: expected.agentId, skipped: 0 });
        expect(await dryRestore(to, expected)).toStrictEqual(there);
        expect(await to.leases.inspect(['agents', expected.agentId])).toBeNull();
      }
      expect(await folderState(root)).toStrictEqual(before);
      expect(await source.leases.inspect(['agents', expected.agentId])).toBeNull();
      expect(await stateOf(back)).toStrictEqual(await stateOf(middle));
      const again = await copyAgent(source, back, expected.agentId);
      expect(again.skipped).toBe(again.journals + again.documents + again.blobs);
    });

    it('goes on in each store as in the first one: a turn, and what it restores to', async () => {
      const { expected, source, middle, back } = await storesOf(name);
      await copyAgent(source, middle, expected.agentId);
      await copyAgent(middle, back, expected.agentId);
      const first = await goOn(source, expected);
      expect(await goOn(middle, expected)).toStrictEqual(first);
      expect(await goOn(back, expected)).toStrictEqual(first);
    });
  });

  const refused = names.flatMap((name) => {
    const code = REFUSED[name];
    return code === undefined ? [] : [{ name, code }];
  });
  if (refused.length === 0) return;
  it.each(refused)(
    'the agent of fixture $name is refused with $code; the source is as it was, and the target has nothing',
    async ({ name, code }) => {
      const { expected, root, source, middle } = await storesOf(name);
      const before = await folderState(root);
      const thrown = await copyAgent(source, middle, expected.agentId).then(
        () => 'none',
        (error: { readonly code?: string }) => error.code,
      );
      expect(code.split(' or ')).toContain(thrown);
      expect(await folderState(root)).toStrictEqual(before);
      expect(await stateOf(middle)).toStrictEqual({});
      expect(await middle.leases.inspect(['agents', expected.agentId])).toBeNull();
    },
  );
}
