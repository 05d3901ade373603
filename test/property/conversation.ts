/** Random conversations: what a host may do with one agent's memory, crashes included. */
import fc from 'fast-check';
import type { JsonValue } from '../../src/core/json.js';

export type Step =
  /** A user message in a new turn. */
  | { readonly do: 'ask'; readonly text: string; readonly pinned: boolean; readonly image: boolean }
  /** The user speaks in the turn that runs, or after it. */
  | { readonly do: 'add'; readonly text: string }
  | { readonly do: 'answer'; readonly text: string; readonly final: boolean }
  /** Calls of one response, with its text, or one by one and the text last. */
  | {
      readonly do: 'call';
      readonly ids: readonly string[];
      readonly text: string;
      readonly oneByOne: boolean;
    }
  /** Results of some open calls, in this order; told for their own turn, or for the current one. */
  | {
      readonly do: 'results';
      readonly picks: readonly number[];
      readonly value: JsonValue;
      readonly ownTurn: boolean;
      readonly together: boolean;
    }
  /** A result that has no place: a second one, or one without a call. */
  | { readonly do: 'stray'; readonly id: string }
  | { readonly do: 'ledger'; readonly pick: number; readonly event: 'started' | 'finished' | 'approval' }
  | { readonly do: 'compact' }
  | { readonly do: 'reset'; readonly keep: number }
  | { readonly do: 'save' }
  /** Several things at once: user messages, results of all open calls, and saves between them. */
  | { readonly do: 'burst'; readonly texts: readonly string[]; readonly saves: number }
  /** The process before this one wakes up and writes: it is refused, and has no effect. */
  | { readonly do: 'zombie'; readonly text: string }
  /** Killed, and restored by the next process: with the cache as it is, an earlier one, or none. */
  | {
      readonly do: 'crash';
      readonly cache: 'last' | 'earlier' | 'none';
      readonly pick: number;
      readonly prompt: string | null;
    };

const text = fc.oneof(
  fc.string({ maxLength: 30 }),
  fc.string({ unit: 'binary', maxLength: 10 }),
  fc.constantFrom('go on', 'Remember: I prefer tea.', '\u2028', '{"_seq":1}', 'x'.repeat(400)),
);
const said = text.map((given) => (given.trim() === '' ? `${given}.` : given));
const value = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }).map((given) => JSON.parse(JSON.stringify(given)) as JsonValue),
  fc.constant('y'.repeat(300)),
);
const ids = fc.uniqueArray(fc.constantFrom('call_0', 'call_1', 'call_2', 'b/c'), {
  minLength: 1,
  maxLength: 3,
});

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('ask' as const), text: said, pinned: rarely(), image: rarely() }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('add' as const), text: said }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('answer' as const), text, final: mostly() }) },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('call' as const), ids, text, oneByOne: fc.boolean() }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('results' as const),
      picks: fc.array(fc.nat({ max: 9 }), { minLength: 1, maxLength: 3 }),
      value,
      ownTurn: mostly(),
      together: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('stray' as const), id: fc.constantFrom('call_0', 'lost') }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('ledger' as const),
      pick: fc.nat({ max: 9 }),
      event: fc.constantFrom('started' as const, 'finished' as const, 'approval' as const),
    }),
  },
  { weight: 2, arbitrary: fc.constant<Step>({ do: 'compact' }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reset' as const), keep: fc.nat({ max: 4 }) }) },
  { weight: 1, arbitrary: fc.constant<Step>({ do: 'save' }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('burst' as const),
      texts: fc.array(said, { minLength: 1, maxLength: 4 }),
      saves: fc.nat({ max: 2 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('zombie' as const), text: said }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('crash' as const),
      cache: fc.constantFrom('last' as const, 'earlier' as const, 'none' as const),
      pick: fc.nat({ max: 99 }),
      prompt: fc.option(fc.constantFrom('Be kind.', 'Be brief.', '')),
    }),
  },
);

function rarely(): fc.Arbitrary<boolean> {
  return fc.nat({ max: 7 }).map((n) => n === 0);
}

function mostly(): fc.Arbitrary<boolean> {
  return fc.nat({ max: 4 }).map((n) => n > 0);
}

export const conversation: fc.Arbitrary<Step[]> = fc.array(step, {
  minLength: 1,
  maxLength: 30,
  size: 'max',
});
