/** A thread whose journal is damaged is not taken for an older one. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RekindleSaver, RekindleStore } from '../../../src/adapters/langgraph/index.js';
import { FileStorage } from '../../../src/storage/file/file-storage.js';
import { repairSharedJournal } from '../../../src/storage/journal-check.js';
import { all, putValues, thread, valuesAt } from './saver-kit.js';

const DAMAGED = { code: 'JOURNAL_DAMAGED' };

describe('a damaged journal of LangGraph', () => {
  let root: string;
  let storage: FileStorage;

  beforeEach(async () => {
    root = await mkdtemp(path.join(os.tmpdir(), 'rekindle-langgraph-'));
    storage = new FileStorage(root);
  });

  afterEach(async () => {
    await storage.close();
    await rm(root, { recursive: true, force: true });
  });

  async function damage(file: string, text: string): Promise<void> {
    const whole = await readFile(path.join(root, file), 'utf8');
    expect(whole).toContain(text);
    await writeFile(path.join(root, file), whole.replace(text, text.toUpperCase()));
  }

  /** The right to write lingers for a moment. */
  async function repair(folder: readonly string[], journal: string): Promise<void> {
    const names = { journal: [...folder, journal], lease: [...folder, 'lease'] };
    const done = await vi.waitFor(() => repairSharedJournal(storage, names));
    expect(done).toHaveLength(1);
  }

  it.each(['first', 'second', 'third'])(
    'is neither read nor written until it was repaired: the %s record',
    async (which) => {
      const saver = new RekindleSaver({ storage });
      let config = thread('t');
      for (const value of ['first', 'second', 'third']) config = await putValues(saver, config, { value });
      await saver.close();
      await damage('langgraph/threads/t/checkpoints.jsonl', `"text":"\\"${which}`);
      const after = new RekindleSaver({ storage });
      await expect(after.getTuple(thread('t'))).rejects.toMatchObject(DAMAGED);
      await expect(all(after.list({}))).rejects.toMatchObject(DAMAGED);
      await expect(putValues(after, thread('t'), { value: 'fourth' })).rejects.toMatchObject(DAMAGED);
      const folder = ['langgraph', 'threads', 't'];
      await repair(folder, 'checkpoints');
      await putValues(after, thread('t'), { value: 'fourth' });
      const values = (await all(after.list(thread('t')))).map(
        ({ checkpoint }) => checkpoint.channel_values['value'],
      );
      expect(values).toEqual(['fourth', 'third', 'second', 'first'].filter((value) => value !== which));
      await after.close();
    },
  );

  it('that is damaged while it is open does not give another value', async () => {
    const saver = new RekindleSaver({ storage });
    const padding = 'x'.repeat(60_000);
    const first = await putValues(saver, thread('t'), { value: 'first', padding });
    for (let n = 0; n < 10; n += 1) await putValues(saver, first, { padding: `${n}${padding}` });
    await damage('langgraph/threads/t/checkpoints.jsonl', '"text":"\\"first');
    await expect(valuesAt(saver, first)).rejects.toMatchObject(DAMAGED);
    await saver.close();
  });

  it('with a damaged base gives no other value, and the thread goes on after a repair', async () => {
    const saver = new RekindleSaver({ storage });
    const texts = ['first'.repeat(200), `${'first'.repeat(200)}, second`];
    const first = await putValues(saver, thread('t'), { text: texts[0] });
    const second = await putValues(saver, first, { text: texts[1] });
    for (let n = 0; n < 10; n += 1)
      await putValues(saver, thread('t', 'other'), { n: `${n}`.repeat(60_000) });
    await saver.close();
    const file = path.join(root, 'langgraph/threads/t/checkpoints.jsonl');
    const open = new RekindleSaver({ storage });
    await open.getTuple(thread('t', 'other'));
    const whole = await readFile(file);
    whole[whole.indexOf('firstfirst')]! ^= 1;
    await writeFile(file, whole);
    for (const config of [first, second]) await expect(valuesAt(open, config)).rejects.toMatchObject(DAMAGED);
    await open.close();
    const anew = new RekindleSaver({ storage });
    for (const config of [first, second]) await expect(valuesAt(anew, config)).rejects.toMatchObject(DAMAGED);
    await repair(['langgraph', 'threads', 't'], 'checkpoints');
    expect(await anew.getTuple(first)).toBeUndefined();
    await expect(valuesAt(anew, second)).rejects.toMatchObject(DAMAGED);
    const third = await putValues(anew, second, { text: `${texts[1]}, third` });
    expect(await valuesAt(anew, third)).toEqual({ text: `${texts[1]}, third` });
    await anew.close();
  });

  it('of a store is neither read nor written until it was repaired', async () => {
    const store = new RekindleStore({ storage });
    for (const key of ['first', 'second']) await store.put(['a'], key, { key });
    await store.stop();
    await damage('langgraph/store/items.jsonl', '"second",{');
    const after = new RekindleStore({ storage });
    await expect(after.get(['a'], 'first')).rejects.toMatchObject(DAMAGED);
    await expect(after.put(['a'], 'third', {})).rejects.toMatchObject(DAMAGED);
    const folder = ['langgraph', 'store'];
    await repair(folder, 'items');
    await after.put(['a'], 'third', {});
    expect((await after.search(['a'])).map(({ key }) => key)).toEqual(['first', 'third']);
    await after.stop();
  });
});
