/** Finds rules and preferences that users state, by their wording. Deterministic and offline; needs no model. */
import { type Message, textOf } from '../../messages/message.js';
import { quoteText } from '../compaction/quoted-text.js';
import { USER_SAID } from './fact-key.js';
import type { FactSource } from './fact-source.js';

const FACT_CHARS = 240;
const FACTS_MAX = 20;
/** Wording of lasting statements. */
const LASTING =
  /\b(remember|always|never|from now on|my name is|i am called|i prefer|i live in|call me|don't forget|do not forget)\b/i;

export interface LastingFact {
  readonly fact: string;
  readonly category: 'user_preference';
  /** `import` for a user's words in another program's transcript. */
  readonly source: FactSource;
  readonly turnId: string | null;
}

/** The newest 20, without duplicates, oldest first. */
export function lastingFacts(messages: readonly Message[]): LastingFact[] {
  const facts = new Map<string, LastingFact>();
  for (const message of messages) {
    if (message.role !== 'user' || message.synthetic || message.kind) continue;
    for (const sentence of sentences(textOf(message))) {
      if (!LASTING.test(sentence)) continue;
      const said = excerpt(sentence, FACT_CHARS);
      const fact = message.imported ? said : `${USER_SAID}${quoteText(said)}`;
      if (facts.has(fact)) continue;
      const source = message.imported ? 'import' : 'user';
      facts.set(fact, { fact, category: 'user_preference', source, turnId: message.turnId ?? null });
    }
  }
  return [...facts.values()].slice(-FACTS_MAX);
}

function sentences(text: string): string[] {
  return text
    .split(/(?<=[.!?])\s+|\n+/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '');
}

/** One line, cut between words if possible, never inside a character. */
export function excerpt(text: string, max: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  if (line.length <= max) return line;
  const cut = line.slice(0, max).toWellFormed();
  const space = cut.lastIndexOf(' ');
  return `${(space > max / 2 ? cut.slice(0, space) : cut).trimEnd()}...`;
}
