import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { passagesOf, splitText } from '../../../src/memory/recall/passage.js';
import { runParameters } from '../../property/seed.js';

const envelope = { id: 'rt_1', ts: 5, turnId: 'turn_0003', seq: 1, sourceEvent: 'x' };

describe('a text', () => {
  it('stays one piece while it is short', () => {
    expect(splitText('One line.\nAnother.')).toEqual(['One line.\nAnother.']);
  });

  it('is cut between paragraphs first', () => {
    const [first, second] = ['a'.repeat(400), 'b'.repeat(400)];
    expect(splitText(`${first}\n\n${second}`)).toEqual([first, second]);
  });

  it('is never cut inside a word that fits', () => {
    const words = Array.from({ length: 400 }, (_, index) => `word${index}`).join(' ');
    expect(splitText(words).join(' ')).toBe(words);
  });

  it('loses nothing but white space, whatever it is, and no pair of surrogates', () => {
    const { numRuns, seed } = runParameters('recall passages', 200);
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 3_000 }), (text) => {
        const pieces = splitText(text);
        expect(pieces.join('').replace(/\s/g, '')).toBe(text.replace(/\s/g, '').toWellFormed());
        for (const piece of pieces) expect(piece.length).toBeLessThanOrEqual(600);
      }),
      { numRuns, seed },
    );
  });
});

describe('the passages of a trace', () => {
  it('say who spoke, when and in which turn', () => {
    const message = { role: 'user' as const, content: 'Hello there' };
    expect(passagesOf({ ...envelope, type: 'user', message }, 9)).toEqual([
      { seq: 9, piece: 0, turnId: 'turn_0003', ts: 5, speaker: 'user', toolName: null, text: 'Hello there' },
    ]);
  });

  it('of a call have its arguments as text', () => {
    const call = { id: 'c', name: 'read_file', arguments: { path: 'src/a.ts', lines: [1, 2] } };
    const [passage] = passagesOf({ ...envelope, type: 'tool_call', call }, 1);
    expect(passage).toMatchObject({
      speaker: 'call',
      toolName: 'read_file',
      text: 'path: src/a.ts\nlines: [1,2]',
    });
  });

  it('of a result that was stored apart have the whole text', () => {
    const result = { toolCallId: 'c', toolName: 'read', toolResult: 'head ... tail', toolError: null };
    const [passage] = passagesOf({ ...envelope, type: 'tool_result', result }, 1, 'head middle tail');
    expect(passage).toMatchObject({ speaker: 'tool', text: 'head middle tail' });
  });

  it('are none for what came back before', () => {
    const message = { role: 'user' as const, content: 'old words', kind: 'recall' as const };
    expect(passagesOf({ ...envelope, type: 'recall', message }, 1)).toEqual([]);
  });
});
