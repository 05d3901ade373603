import { appendFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { AgentInputItem } from '@openai/agents-core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RekindleSession } from '../../../src/adapters/openai-agents/index.js';
import { FileStorage } from '../../../src/storage/file/file-storage.js';
import { MemoryStorage } from '../../../src/storage/memory/memory-storage.js';
import type { StorageBackend } from '../../../src/storage/ports.js';

const opened: RekindleSession[] = [];

function sessionOf(storage: StorageBackend, options = {}): RekindleSession {
  const session = new RekindleSession({ sessionId: 'chat-1', storage, ...options });
  opened.push(session);
  return session;
}

async function closeAll(): Promise<void> {
  for (const session of opened.splice(0)) await session.close();
}

function user(text: string): AgentInputItem {
  return { type: 'message', role: 'user', content: text };
}

const [one, two, three] = [user('one'), user('two'), user('three')];

describe('a session whose journal is damaged', () => {
  let root: string;
  let storage: FileStorage;
  let file: string;
  beforeEach(async () => {
    root = await mkdtemp(path.join(os.tmpdir(), 'rekindle-adapters-'));
    storage = new FileStorage(root);
    const session = sessionOf(storage);
    for (const item of [one, two, three]) await session.addItems([item]);
    await closeAll();
    const files = await readdir(root, { recursive: true });
    file = path.join(root, files.find((name) => name.endsWith('.jsonl')) ?? '');
  });
  afterEach(async () => {
    await closeAll();
    await storage.close();
    await rm(root, { recursive: true, force: true });
  });

  async function damage(text: string): Promise<void> {
    await writeFile(file, (await readFile(file, 'utf8')).replace(text, text.toUpperCase()));
  }

  it.each(['two', 'three'])('refuses to go on without record "%s"', async (text) => {
    await damage(text);
    const session = sessionOf(storage);
    await expect(session.getItems()).rejects.toMatchObject({ code: 'JOURNAL_DAMAGED' });
    await expect(session.addItems([one])).rejects.toMatchObject({ code: 'JOURNAL_DAMAGED' });
    await expect(session.popItem()).rejects.toMatchObject({ code: 'JOURNAL_DAMAGED' });
  });

  it('refuses a change after a record of another process that it never saw whole', async () => {
    const session = sessionOf(storage);
    await session.getItems();
    const other = sessionOf(storage);
    await other.addItems([user('four')]);
    await other.close();
    await damage('four');
    await expect(session.addItems([one])).rejects.toMatchObject({ code: 'JOURNAL_DAMAGED' });
    expect(await readFile(file, 'utf8')).toMatch(/FOUR.*\n$/);
  });

  it('goes on with what can be read when it is told to', async () => {
    await damage('two');
    const session = sessionOf(storage, { acceptDamage: true });
    await session.addItems([two]);
    expect(await session.getItems()).toEqual([one, three, two]);
  });

  it.each(['two', 'three'])('can be cleared without record "%s", and used from then on', async (text) => {
    await damage(text);
    await sessionOf(storage).clearSession();
    await sessionOf(storage).addItems([one]);
    await closeAll();
    expect(await sessionOf(storage).getItems()).toEqual([one]);
  });

  it('is whole when a crash tore its last record', async () => {
    await appendFile(file, '{"op":"add","at":"2026-01-01T');
    const session = sessionOf(storage);
    expect(await session.getItems()).toEqual([one, two, three]);
    await session.addItems([one]);
    expect(await session.getItems()).toEqual([one, two, three, one]);
  });
});

describe('a session that a newer release wrote', () => {
  it('is refused, and left as it is', async () => {
    const storage = new MemoryStorage();
    const lease = await storage.leases.acquire(['openai-agents', 'chat-1', 'lease']);
    const journal = await storage.openJournal(['openai-agents', 'chat-1', 'items'], { lease });
    await journal.append([{ op: 'fork' }]);
    await lease.release();
    const session = sessionOf(storage);
    await expect(session.getItems()).rejects.toMatchObject({ code: 'UNSUPPORTED_VERSION' });
    await expect(session.clearSession()).rejects.toMatchObject({ code: 'UNSUPPORTED_VERSION' });
    expect((await journal.head()).seq).toBe(1);
    await journal.close();
    await closeAll();
    await storage.close();
  });
});
