/**
 * Answers that somebody reads while the model writes them. After a crash every part that was delivered is in the context: as
 * the whole answer, or as the beginning of one that was cut off; once, and the same after a second restore.
 */

import type { PartWriter } from '../../../src/memory/store/answer-parts.js';
import { checkHistory } from '../../../src/messages/legality/history.js';
import { textOf } from '../../../src/messages/message.js';
import type { Fact } from '../history.js';
import {
  demand,
  type Process,
  type RebootedProcess,
  type RunningProcess,
  type Session,
  type Workload,
} from '../workload.js';
import { closeAgent, contextOf, type OpenedAgent, openAgent } from './opened-agent.js';

const open = (process: Process, ignoreCache = false) => openAgent(process, { compaction: null }, ignoreCache);

class StreamSession implements Session {
  readonly #process: RunningProcess;
  #running: OpenedAgent;
  #writer: PartWriter | null = null;
  #turnId = '';
  #said = '';
  #count = 0;

  constructor(process: RunningProcess, running: OpenedAgent) {
    this.#process = process;
    this.#running = running;
    this.#count = process.history.at(Number.POSITIVE_INFINITY).length;
  }

  async apply(operation: string): Promise<void> {
    if (operation === 'restart') {
      await closeAgent(this.#running);
      this.#running = await open(this.#process);
      this.#writer = null;
      return;
    }
    if (operation === 'ask' && this.#writer && this.#said !== '') await this.#answer(this.#writer, ''); // cancelled
    const writer = operation === 'ask' || !this.#writer ? await this.#ask() : this.#writer;
    if (operation === 'part') await this.#part(writer);
    else if (operation === 'answer') await this.#answer(writer);
  }

  async #ask(): Promise<PartWriter> {
    const { memory } = this.#running.opened;
    this.#turnId = memory.startTurn();
    this.#said = '';
    this.#count += 1;
    const text = `u${this.#count}`;
    await this.#step({ kind: 'ask', text }, () => memory.ingestUserMessage(text, this.#turnId));
    this.#writer = memory.answerParts.begin(this.#turnId, null);
    return this.#writer;
  }

  async #part(writer: PartWriter): Promise<void> {
    this.#count += 1;
    const text = `p${this.#count} `;
    await this.#step({ kind: 'part', text }, () => writer.write({ text }));
    this.#said += text;
  }

  async #answer({ messageId }: PartWriter, end = 'end'): Promise<void> {
    const { memory } = this.#running.opened;
    const content = `${this.#said}${end}`;
    await this.#step({ kind: 'answer', text: content }, () =>
      memory.ingestAssistantResponse({ content, messageId }, this.#turnId),
    );
    this.#writer = null;
  }

  async #step(
    fact: { readonly kind: string; readonly text: string },
    run: () => Promise<unknown>,
  ): Promise<void> {
    const ack = this.#process.history.begin(fact);
    await run();
    ack();
  }

  dispose(): Promise<void> {
    return closeAgent(this.#running);
  }
}

interface Exchange {
  readonly user: string;
  /** Acknowledged parts, or the whole answer. */
  said: string;
  /** What may follow: nothing, or what was begun. */
  readonly mayBe: Set<string>;
  isCertain: boolean;
}

function exchangesIn(facts: readonly Fact[]): Exchange[] {
  const exchanges: Exchange[] = [];
  for (const { fact, acked } of facts) {
    const text = String(fact['text']);
    const last = exchanges.at(-1);
    if (fact['kind'] === 'ask')
      exchanges.push({ user: text, said: '', mayBe: new Set(['']), isCertain: acked !== null });
    else if (last && fact['kind'] === 'part') {
      if (acked) last.said += text;
      last.mayBe.add(acked ? last.said : last.said + text);
    } else if (last) {
      if (acked) last.said = text;
      last.mayBe.add(text);
    }
  }
  return exchanges;
}

async function check(process: RebootedProcess): Promise<void> {
  const restored = await open(process);
  const { memory } = restored.opened;
  const messages = memory.getWorkingContextMessages().filter(({ role }) => role !== 'system');
  const expected = exchangesIn(process.facts);
  for (const [index, { user, said, mayBe, isCertain }] of expected.entries()) {
    const at = messages.findIndex((message) => message.role === 'user' && textOf(message) === user);
    if (at < 0) {
      demand(!isCertain, () => `the question ${user} is lost`);
      continue;
    }
    const until = messages.findIndex((message, place) => place > at && message.role === 'user');
    const answers = messages.slice(at + 1, until < 0 ? messages.length : until).map(textOf);
    demand(answers.length <= 1, () => `question ${index + 1} has ${answers.length} answers`);
    const found = answers[0] ?? '';
    demand(found.startsWith(said), () => `"${said}" was delivered, "${found}" was restored`);
    demand(mayBe.has(found), () => `"${found}" was restored, and nobody said it`);
  }
  const [violation] = checkHistory(memory.getWorkingContextMessages());
  demand(violation === undefined, () => `the restored list breaks ${violation?.rule}`);
  const before = contextOf(memory).join('\n');
  await closeAgent(restored);
  for (const ignoreCache of process.thorough ? [false, true] : [false]) {
    const again = await open(process.next(), ignoreCache);
    const same = contextOf(again.opened.memory).join('\n') === before;
    await closeAgent(again);
    demand(same, () => 'the second restore gives another context');
  }
}

export const streamedAnswer: Workload = {
  name: 'streamed-answer',
  alphabet: ['ask', 'part', 'answer', 'restart'],
  start: async (process) => new StreamSession(process, await open(process)),
  check,
};
