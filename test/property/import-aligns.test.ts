/**
 * A snapshot of the original project may be as old as it likes: with the traces that it lacks it gives the same context as the
 * newest one. Texts are said again and call ids start anew, so nothing in it names its place.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../src/core/canonical-json.js';
import type { JsonObject } from '../../src/core/json.js';
import { traceFromJson } from '../../src/memory/models/trace-serializer.js';
import { lastCovered } from '../../src/memory/restore/align-snapshot.js';
import { applyTrace, emptyMemoryState } from '../../src/memory/working-context-reducer.js';
import { WorkingContextSnapshot } from '../../src/memory/working-context-snapshot.js';
import { repairHistory } from '../../src/messages/legality/history.js';
import type { Message } from '../../src/messages/message.js';
import { messageFromJson, messageToJson } from '../../src/messages/message-serializer.js';
import { LegacyRows, legacyMessage, legacyResult } from '../memory/restore/legacy.js';
import { runParameters } from './seed.js';

interface Step {
  readonly ids: readonly string[];
  readonly order: readonly string[];
  readonly said: string;
}

interface Turn {
  readonly asks: string;
  readonly steps: readonly Step[];
  readonly answers: string;
}

const words = fc.constantFrom('go on', 'Done.', 'ok', 'What now?');
const step: fc.Arbitrary<Step> = fc
  .uniqueArray(fc.constantFrom('call_0', 'call_1', 'call_2'), { minLength: 1, maxLength: 3 })
  .chain((ids) =>
    fc.record({
      ids: fc.constant(ids),
      order: fc.shuffledSubarray(ids, { minLength: ids.length }),
      said: fc.constantFrom('', 'Looking.'),
    }),
  );
const turn: fc.Arbitrary<Turn> = fc.record({
  asks: words,
  steps: fc.array(step, { maxLength: 2 }),
  answers: words,
});

/** What the original project writes: rows, its list, and how many rows each message of the list stands for. */
function written(turns: readonly Turn[]): { rows: JsonObject[]; messages: Message[]; covers: number[] } {
  const rows = new LegacyRows();
  const messages: Message[] = [];
  const covers: number[] = [];
  const add = (json: JsonObject) => {
    messages.push(messageFromJson(json));
    covers.push(rows.rows.length);
  };
  for (const { asks, steps, answers } of turns) {
    rows.user(asks);
    add(legacyMessage('user', asks));
    for (const { ids, order, said } of steps) {
      for (const id of ids) rows.call(id);
      rows.answer(said);
      const tool_calls = ids.map((id) => ({ id, name: `tool_${id}`, arguments: { of: id } }));
      add(legacyMessage('assistant', said === '' ? null : said, { tool_calls }));
      for (const id of order) {
        rows.result(id, `${id} of ${messages.length}`);
        add(legacyResult(id, `${id} of ${messages.length}`));
      }
    }
    rows.answer(answers);
    add(legacyMessage('assistant', answers));
  }
  return { rows: rows.rows, messages, covers };
}

/** The list without turn ids, which the original does not note in its snapshots. */
function listOf(messages: readonly Message[]): string {
  return canonicalJson(
    repairHistory(messages).messages.map(({ turnId: _, ...message }) => messageToJson(message)),
  );
}

describe('the alignment of an imported snapshot', () => {
  it('finds the place of every snapshot that was ever saved', () => {
    fc.assert(
      fc.property(fc.array(turn, { minLength: 1, maxLength: 5 }), (turns) => {
        const { rows, messages, covers } = written(turns);
        const traces = rows.map(traceFromJson);
        for (const [index, count] of covers.entries()) {
          const covered = lastCovered(messages.slice(0, index + 1), traces)!;
          // A blank answer behind its calls stands for nothing, so it may come again, without effect.
          const left = traces.slice(covered + 1, count);
          expect(left.every((trace) => trace.type === 'assistant' && trace.message.content === '')).toBe(
            true,
          );
          expect(covered).toBeLessThan(count);
        }
      }),
      runParameters('import-aligns, place', 500),
    );
  });

  it('gives with the traces that a snapshot lacks the newest list', () => {
    fc.assert(
      fc.property(fc.array(turn, { minLength: 1, maxLength: 4 }), fc.nat(), (turns, pick) => {
        const { rows, messages } = written(turns);
        const traces = rows.map(traceFromJson);
        const saved = messages.slice(0, 1 + (pick % messages.length));
        const state = { ...emptyMemoryState(), snapshot: new WorkingContextSnapshot(saved) };
        for (const trace of traces.slice(lastCovered(saved, traces)! + 1)) applyTrace(state, trace);
        expect(listOf(state.snapshot.messages)).toBe(listOf(messages));
      }),
      runParameters('import-aligns, list', 500),
    );
  });
});
