import fs from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { agentState } from '../../../src/state/durable/documents/agent-state.js';
import { defineState } from '../../../src/state/durable/state-definition.js';
import type { StateEvent } from '../../../src/state/durable/state-event.js';
import { StateManager } from '../../../src/state/durable/state-manager.js';
import { MemoryStorage } from '../../../src/storage/memory/memory-storage.js';
import { errorOf, Place } from './state-kit.js';

async function eventsOf(state: { history(): AsyncIterable<StateEvent> }): Promise<StateEvent[]> {
  const events: StateEvent[] = [];
  for await (const event of state.history()) events.unshift(event);
  return events;
}

describe('a document', () => {
  it('begins with its initial value, as a file and as the first event', async () => {
    const place = await Place.make();
    const state = await place.agentState();
    expect(await place.json()).toEqual(agentState.initial);
    expect((await state.load()).version).toBe(1);
    expect(await eventsOf(state)).toMatchObject([
      { version: 1, event: 'created', value: agentState.initial },
    ]);
  });

  it('is STATE_NOT_FOUND where there is none and nothing to begin with, and nothing is written', async () => {
    const place = await Place.make();
    const { initial: _, ...rest } = agentState;
    const error = await errorOf(StateManager.open({ ...rest, backend: place.storage }));
    expect(error.code).toBe('STATE_NOT_FOUND');
    await expect(fs.readdir(place.root)).resolves.toEqual([]);
  });

  it('keeps an update, with who and why, for the next process', async () => {
    const place = await Place.make();
    const state = await place.agentState();
    const { version, value } = await state.update(
      (draft) => {
        draft.active_task_id = 'T-001';
        draft.touched_files.push('src/a.ts');
      },
      { by: 'builder', why: 'took the first task' },
    );
    expect(version).toBe(2);
    const again = await (await place.agentState()).load();
    expect(again).toMatchObject({ version: 2, by: 'builder', why: 'took the first task', value });
    expect(await place.json()).toEqual(value);
  });

  it('may be changed by a new value that the update returns', async () => {
    const state = await (await Place.make()).agentState();
    const { value } = await state.update((draft) => ({ ...draft, next_action: 'Run the tests.' }));
    expect(value.next_action).toBe('Run the tests.');
  });

  it('makes no version when nothing changed', async () => {
    const state = await (await Place.make()).agentState();
    expect((await state.update(() => {})).version).toBe(1);
    expect((await state.commit((await state.load()).value)).version).toBe(1);
  });

  it('hands out copies: what a caller does to them changes nothing', async () => {
    const state = await (await Place.make()).agentState();
    (await state.load()).value.blockers.push('x');
    expect((await state.load()).value.blockers).toEqual([]);
  });

  it('is written with the keys in the order of its schema, two spaces deep, with a newline at the end', async () => {
    const place = await Place.make();
    const state = await place.agentState();
    const { value } = await state.load();
    const backwards = Object.fromEntries(Object.entries({ ...value, next_action: 'x' }).reverse());
    await state.commit(backwards as typeof value);
    const text = await place.text();
    expect(text.replace(/,\n {2}"_shows": .*/, '')).toBe(
      `${JSON.stringify({ ...value, next_action: 'x' }, null, 2)}\n`,
    );
    expect(text).toMatch(/\n {2}"_shows": \{"version":2,"digest":"[0-9a-f]{32}"\}\n\}\n$/);
  });

  it('cannot hold the line that belongs to its file', async () => {
    const state = await (await Place.make()).agentState();
    const { value } = await state.load();
    const error = await errorOf(state.commit({ ...value, _shows: {} } as typeof value));
    expect(error).toMatchObject({ code: 'STATE_INVALID' });
    const schema = {
      type: 'object',
      required: ['schema_version'],
      properties: { schema_version: { const: 1 }, _shows: {} },
    } as const;
    expect(() => defineState({ name: 'x', schema })).toThrow(/_shows is reserved/);
  });

  it('says when a person touched it: no agent can set that', async () => {
    const state = await (await Place.make()).agentState();
    const touch = new Date().toISOString();
    const error = await errorOf(state.update((draft) => void (draft.last_human_touch = touch)));
    expect(error).toMatchObject({
      code: 'STATE_INVALID',
      details: { violations: [{ path: '/last_human_touch', rule: 'human' }] },
    });
    expect((await state.load()).version).toBe(1);
  });

  it('works the same in memory', async () => {
    const storage = new MemoryStorage();
    const first = await StateManager.open({ ...agentState, backend: storage });
    await first.update((draft) => void draft.blockers.push('no key'));
    const second = await StateManager.open({ ...agentState, backend: storage });
    expect((await second.load()).value.blockers).toEqual(['no key']);
  });

  it('stays readable for one who has seen nothing of the changes between', async () => {
    const place = await Place.make();
    const [one, two] = [await place.agentState(), await place.agentState()];
    for (let n = 1; n <= 5; n += 1) await one.update((draft) => void draft.touched_files.push(`f${n}`));
    expect((await two.load()).value.touched_files).toHaveLength(5);
    await two.update((draft) => void draft.touched_files.push('f6'));
    expect((await one.load()).version).toBe(7);
  });
});

describe('a bad write', () => {
  const refused: [
    string,
    (draft: Record<string, unknown>) => void,
    { path: string; rule: string; value?: unknown },
  ][] = [
    ['null for an array', (d) => (d['blockers'] = null), { path: '/blockers', rule: 'type', value: null }],
    ['an unknown key', (d) => (d['mood'] = 'good'), { path: '', rule: 'additionalProperties' }],
    ['a missing schema_version', (d) => delete d['schema_version'], { path: '', rule: 'required' }],
    [
      'an unknown schema_version',
      (d) => (d['schema_version'] = 7),
      { path: '/schema_version', rule: 'const', value: 7 },
    ],
    [
      'true as a version',
      (d) => (d['schema_version'] = true),
      { path: '/schema_version', rule: 'const', value: true },
    ],
    [
      '"1" as a version',
      (d) => (d['schema_version'] = '1'),
      { path: '/schema_version', rule: 'const', value: '1' },
    ],
    [
      'a task id with a newline after it',
      (d) => (d['active_task_id'] = 'T-001\n'),
      { path: '/active_task_id', rule: 'pattern', value: 'T-001\n' },
    ],
    [
      'a task id that is too short',
      (d) => (d['active_task_id'] = 'T-01'),
      { path: '/active_task_id', rule: 'pattern' },
    ],
    [
      'a task id with something before it',
      (d) => (d['active_task_id'] = 'xT-001'),
      { path: '/active_task_id', rule: 'pattern' },
    ],
    [
      'a date that is none',
      (d) => (d['last_human_touch'] = 'yesterday'),
      { path: '/last_human_touch', rule: 'pattern' },
    ],
    ['a Date object', (d) => (d['next_action'] = new Date(0)), { path: '/next_action', rule: 'json' }],
    ['undefined', (d) => (d['next_action'] = undefined), { path: '/next_action', rule: 'json' }],
    ['half of a character', (d) => (d['next_action'] = '\ud83d'), { path: '/next_action', rule: 'json' }],
  ];

  it.each(refused)(
    '%s is refused with path, rule and value, and nothing changes',
    async (_, spoil, violation) => {
      const place = await Place.make();
      const state = await place.agentState();
      const before = await place.text();
      const error = await errorOf(
        state.update((draft) => void spoil(draft as unknown as Record<string, unknown>)),
      );
      expect(error.code).toBe('STATE_INVALID');
      expect(error.details['violations']).toContainEqual(expect.objectContaining(violation));
      expect(await place.text()).toBe(before);
      expect((await state.load()).version).toBe(1);
    },
  );

  it('tells every violation, not the first', async () => {
    const state = await (await Place.make()).agentState();
    const violations = state.validate({ schema_version: 2, blockers: null, touched_files: [1], extra: 1 });
    expect(violations.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['/schema_version', '/blockers', '/touched_files/0', '']),
    );
    expect(violations.length).toBeGreaterThanOrEqual(7);
  });

  it('is looked at without being coerced, filled in or changed', async () => {
    const state = await (await Place.make()).agentState();
    const value = Object.freeze({ schema_version: '1', touched_files: Object.freeze(['a']) });
    const before = JSON.stringify(value);
    state.validate(value);
    expect(JSON.stringify(value)).toBe(before);
  });

  it('an update that throws changes nothing and gives its own error', async () => {
    const state = await (await Place.make()).agentState();
    const thrown = new TypeError('mine');
    await expect(
      state.update((draft) => {
        draft.next_action = 'x';
        throw thrown;
      }),
    ).rejects.toBe(thrown);
    expect((await state.load()).version).toBe(1);
    expect((await state.update((draft) => void (draft.next_action = 'y'))).version).toBe(2);
  });

  it('more than 64 KiB in one text is refused with advice to attach it', async () => {
    const state = await (await Place.make()).agentState();
    const error = await errorOf(
      state.update((draft) => void (draft.next_action = 'x'.repeat(64 * 1024 + 1))),
    );
    expect(error).toMatchObject({
      code: 'STATE_TOO_LARGE',
      details: { path: '/next_action', bytes: 65_537 },
    });
    expect(error.advice).toContain('attach');
    await state.update((draft) => void (draft.next_action = 'x'.repeat(64 * 1024)));
  });

  it('a whole document of more than 1 MiB is refused', async () => {
    const state = await (await Place.make()).agentState();
    const texts = Array.from({ length: 40 }, () => 'é'.repeat(15_000));
    expect((await errorOf(state.update((draft) => void draft.assumptions.push(...texts)))).code).toBe(
      'STATE_TOO_LARGE',
    );
  });
});

describe('commit', () => {
  it('refuses an older version with DOCUMENT_CONFLICT', async () => {
    const state = await (await Place.make()).agentState();
    const { value } = await state.load();
    await state.commit({ ...value, next_action: 'a' }, { ifVersion: 1 });
    const error = await errorOf(state.commit({ ...value, next_action: 'b' }, { ifVersion: 1 }));
    expect(error).toMatchObject({ code: 'DOCUMENT_CONFLICT', details: { version: 2 } });
    expect((await state.load()).value.next_action).toBe('a');
  });
});

describe('history', () => {
  it('gives every version back, also where the journal holds only the steps', async () => {
    const place = await Place.make();
    const state = await place.agentState();
    const seen = [(await state.load()).value];
    for (let n = 1; n <= 40; n += 1) {
      seen.push(
        (await state.update((draft) => void draft.assumptions.push(`assumption ${n}`), { why: `n${n}` }))
          .value,
      );
    }
    const events = await eventsOf(state);
    expect(events.some((event) => event.patch !== null)).toBe(true);
    const other = await place.agentState();
    for (const [index, value] of seen.entries()) expect((await other.at(index + 1))?.value).toEqual(value);
    expect(await other.at(99)).toBeNull();
    expect(await other.diff(1, 2)).toEqual([{ op: 'add', path: '/assumptions/0', value: 'assumption 1' }]);
  });

  it('writes the steps of a change, not the document, and the value again before the steps outgrow it', async () => {
    const place = await Place.make();
    const state = await place.agentState();
    await state.update((draft) => void (draft.next_action = 'x'.repeat(4_000)));
    for (let n = 0; n < 200; n += 1)
      await state.update((draft) => void (draft.active_task_id = `T-${100 + n}`));
    const events = await eventsOf(state);
    const sizes = events.map((event) => JSON.stringify(event.patch ?? event.value).length);
    expect(sizes.reduce((a, b) => a + b, 0) / 200).toBeLessThan(200);
    expect(events.filter((event) => event.value !== null).length).toBeLessThan(10);
  });

  it('is limited, newest first', async () => {
    const state = await (await Place.make()).agentState();
    for (let n = 0; n < 3; n += 1) await state.update((draft) => void draft.blockers.push(`${n}`));
    const versions: number[] = [];
    for await (const event of state.history({ limit: 2 })) versions.push(event.version);
    expect(versions).toEqual([4, 3]);
  });
});

describe('an artifact', () => {
  it('is kept beside the document by its digest, from bytes or from a file', async () => {
    const place = await Place.make();
    const state = await place.agentState();
    const bytes = Buffer.from('a,b\n1,2\n'.repeat(20_000));
    const reference = await state.attach(bytes);
    await fs.writeFile(place.file('../data.csv'), bytes);
    expect(await state.attach(place.file('../data.csv'))).toBe(reference);
    await state.update((draft) => void draft.touched_files.push(reference));
    expect(Buffer.from((await (await place.agentState()).artifact(reference))!)).toEqual(bytes);
    expect(await state.artifact('sha256:0')).toBeNull();
  });

  it('of a path that is not there is STORAGE_FAILED with the path', async () => {
    const state = await (await Place.make()).agentState();
    const error = await errorOf(state.attach('/nowhere/at/all'));
    expect(error).toMatchObject({ code: 'STORAGE_FAILED', details: { errno: 'ENOENT' } });
    expect(error.message).toContain('/nowhere/at/all');
  });
});

describe('a damaged or foreign store', () => {
  it('a file of a newer version is refused and its bytes stay', async () => {
    const place = await Place.make();
    const text = '{"schema_version": 9, "new": true}\n';
    await place.put(text);
    expect((await errorOf(place.agentState())).code).toBe('UNSUPPORTED_VERSION');
    expect(await place.text()).toBe(text);
    expect(await fs.readdir(place.file('.'))).toEqual(['agent_state.json']);
  });

  it('a file that was there before its journal is taken over', async () => {
    const place = await Place.make();
    const value = { ...(agentState.initial as object), next_action: 'by hand' };
    await place.put(JSON.stringify(value));
    const state = await place.agentState();
    expect((await state.load()).value).toEqual(value);
    expect((await eventsOf(state))[0]).toMatchObject({ event: 'imported', version: 1 });
  });

  it.each([
    ['no JSON', '{"schema_version": 1,\n  oops}', 2],
    ['a key twice', '{"schema_version": 1,\n"schema_version": 1}', 2],
    ['the wrong shape', '{"schema_version": 1,\n\n"blockers": 3}', 3],
    ['a list', '[]', 1],
    ['nothing', '', 1],
  ])('a first file that is %s is refused with its line, and stays', async (_, text, line) => {
    const place = await Place.make();
    await place.put(text);
    const error = await errorOf(place.agentState());
    expect(error.code).toBe('STATE_INVALID');
    expect(error.details['problems']).toContainEqual(expect.objectContaining({ line }));
    expect(await place.text()).toBe(text);
  });

  it('a lost file is written again from the journal', async () => {
    const place = await Place.make();
    const state = await place.agentState();
    await state.update((draft) => void draft.blockers.push('x'));
    const text = await place.text();
    await fs.rm(place.file());
    await (await place.agentState()).load();
    expect(await place.text()).toBe(text);
  });

  it('a record in the middle that is damaged does not matter when a later one holds the whole value', async () => {
    const place = await Place.make();
    const state = await place.agentState();
    await state.update((draft) => void (draft.next_action = 'a'.repeat(300)));
    await state.update((draft) => void (draft.next_action = 'b'.repeat(3_000)));
    await state.close();
    await spoilLine(place, 1);
    expect((await (await place.agentState()).load()).version).toBe(3);
  });

  it('steps that do not lead to the value are mended by the file, which has it', async () => {
    const place = await Place.make();
    const state = await place.agentState();
    await state.update((draft) => void (draft.next_action = 'a'.repeat(3_000)));
    for (const id of ['T-001', 'T-002']) await state.update((draft) => void (draft.active_task_id = id));
    await state.close();
    await spoilLine(place, 2);
    const again = await place.agentState();
    expect((await again.load()).value.active_task_id).toBe('T-002');
    expect((await again.update((draft) => void (draft.active_task_id = 'T-003'))).version).toBe(5);
    expect((await errorOf(again.at(3))).code).toBe('JOURNAL_DAMAGED');
    expect((await again.at(5))?.value.active_task_id).toBe('T-003');
  });

  it('a damaged end is mended by the file, as recovered and not as a person, and its number is not used again', async () => {
    const place = await Place.make();
    const state = await place.agentState();
    for (const id of ['T-001', 'T-002']) await state.update((draft) => void (draft.active_task_id = id));
    await state.close();
    await spoilLine(place, 2);
    const again = await place.agentState();
    expect(await again.load()).toMatchObject({ event: 'recovered', by: 'rekindle', version: 4 });
    expect((await again.load()).value.active_task_id).toBe('T-002');
  });
});

/** Changes a byte of one line of the journal, counted from 0. */
async function spoilLine(place: Place, index: number): Promise<void> {
  const file = place.file('agent_state.events.jsonl');
  const lines = (await fs.readFile(file, 'utf8')).split('\n');
  lines[index] = lines[index]!.replace('"at"', '"aT"');
  await fs.writeFile(file, lines.join('\n'));
}
