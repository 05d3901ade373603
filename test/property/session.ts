/** Plays a conversation against real storage, and looks at every crash from three sides. */
import { expect } from 'vitest';
import { canonicalJson } from '../../src/core/canonical-json.js';
import { isRekindleError } from '../../src/core/errors.js';
import { formatTurnId } from '../../src/core/ids.js';
import type { Summarizer } from '../../src/memory/compaction/summarizer.js';
import type { MemoryManager } from '../../src/memory/memory-manager.js';
import { type MemoryOptions, type OpenMemory, openMemory } from '../../src/memory/open-memory.js';
import type { RestoreReport } from '../../src/memory/restore/restore-report.js';
import {
  WorkingContextSnapshotBootstrapOptions,
  WorkingContextSnapshotBootstrapper,
} from '../../src/memory/restore/working-context-snapshot-bootstrapper.js';
import { SNAPSHOT_FILE } from '../../src/memory/store/working-context-snapshot-store.js';
import { checkHistory } from '../../src/messages/legality/history.js';
import { textOf, toolResultOf } from '../../src/messages/message.js';
import { messageToJson } from '../../src/messages/message-serializer.js';
import type { StorageBackend } from '../../src/storage/ports.js';
import { AGENT, byteCounter } from '../memory/memory-kit.js';
import type { Step } from './conversation.js';

const CACHE = ['agents', AGENT, SNAPSHOT_FILE];

const summarizer: Summarizer = {
  summarize: async (turns) => ({
    episodicSummary: turns.map((message) => textOf(message).slice(0, 12)).join(' '),
    semanticFacts: [{ fact: `There were ${turns.length} messages.` }],
  }),
};

/** A budget so small that turns compact by themselves. */
const OPTIONS: MemoryOptions = {
  compaction: { inputBudgetTokens: 1_600, rawTailTurns: 1, maxItemChars: 300 },
  summarizer,
  tokenCounter: byteCounter,
};

export class Session {
  /** A store as a new process opens it. */
  readonly #newStorage: () => StorageBackend;
  readonly #caches: (Uint8Array | null)[] = [null];
  readonly sources = new Set<string>();
  #opened!: OpenMemory;
  #storage!: StorageBackend;
  #turnId = '';
  #responses = 0;
  /** The process before this one. */
  #zombie: MemoryManager | null = null;

  constructor(newStorage: () => StorageBackend) {
    this.#newStorage = newStorage;
  }

  get memory(): MemoryManager {
    return this.#opened.memory;
  }

  /** Something is said first: a context that is blank although there are traces is refused by design. */
  async start(): Promise<void> {
    await this.#open('Be kind.', {});
    await this.memory.begin('Be kind.');
    this.#turnId = this.memory.startTurn();
    await this.memory.ingestUserMessage('Hello', this.#turnId);
  }

  async play(steps: readonly Step[]): Promise<void> {
    for (const step of steps) {
      await this.#play(step);
      this.#caches.push(await this.#storage.documents.readBytes(CACHE));
    }
  }

  async #open(prompt: string | null, options: { readonly readOnly?: boolean }): Promise<RestoreReport> {
    this.#storage = this.#newStorage();
    this.#opened = await openMemory(this.#storage, AGENT, {
      ...OPTIONS,
      readOnly: options.readOnly ?? false,
    });
    return new WorkingContextSnapshotBootstrapper().bootstrap(
      this.#opened.memory,
      prompt,
      new WorkingContextSnapshotBootstrapOptions({ keepPendingApprovals: false }),
    );
  }

  async #play(step: Step): Promise<void> {
    const { memory } = this;
    switch (step.do) {
      case 'ask': {
        this.#turnId = memory.startTurn();
        const media = step.image ? [{ kind: 'image' as const, data: Buffer.from(step.text) }] : [];
        await memory.ingestUserMessage({ text: step.text, media, pinned: step.pinned }, this.#turnId);
        return;
      }
      case 'add':
        await memory.ingestUserMessage(step.text, this.#turn());
        return;
      case 'answer':
        await memory.ingestAssistantResponse({ content: step.text, final: step.final }, this.#turn());
        return;
      case 'call':
        await this.#call(step);
        return;
      case 'results':
        await this.#results(step);
        return;
      case 'stray':
        await memory.ingestToolResults(
          [{ callId: step.id, toolName: 'stray', result: 1, turnId: 'turn_0000' }],
          this.#turn(),
        );
        return;
      case 'ledger':
        await this.#ledger(step);
        return;
      case 'compact':
        await memory.compact().catch((thrown: unknown) => {
          if (!isRekindleError(thrown, 'COMPACTION_REFUSED')) throw thrown;
        });
        return;
      case 'reset':
        await this.#reset(step.keep);
        return;
      case 'save':
        await memory.persistWorkingContextSnapshot();
        return;
      case 'burst':
        await this.#burst(step);
        return;
      case 'zombie':
        await this.#wakeZombie(step.text);
        return;
      case 'crash':
        await this.crash(step);
    }
  }

  #turn(): string {
    if (this.#turnId === '') this.#turnId = this.memory.startTurn();
    return this.#turnId;
  }

  async #call(step: Step & { readonly do: 'call' }): Promise<void> {
    const turnId = this.#turn();
    const open = new Set(this.memory.openCalls().map(({ call, turnId: at }) => `${at} ${call.id}`));
    const ids = step.ids.filter((id) => !open.has(`${turnId} ${id}`)); // no provider repeats an id that is open in its turn
    const toolCalls = ids.map((id) => ({
      id,
      name: `tool_${id[5] ?? 'x'}`,
      arguments: { n: this.#responses },
    }));
    const messageId = `msg_${AGENT}_${this.#responses++}`;
    if (!step.oneByOne) {
      await this.memory.ingestAssistantResponse(
        { content: step.text, toolCalls, messageId, final: false },
        turnId,
      );
      return;
    }
    for (const call of toolCalls) await this.memory.ingestToolIntents([call], turnId, messageId);
    await this.memory.ingestAssistantResponse({ content: step.text, messageId, final: false }, turnId);
  }

  async #results(step: Step & { readonly do: 'results' }): Promise<void> {
    const open = this.memory.openCalls();
    const picked = [...new Set(step.picks)].flatMap((pick) =>
      open.length > 0 ? [open[pick % open.length]!] : [],
    );
    const results = picked.map(({ call, turnId }, index) => ({
      callId: call.id,
      toolName: call.name,
      ...(index === 1 ? { error: 'It failed.' } : { result: step.value }),
      ...(step.ownTurn && turnId !== undefined ? { turnId } : {}),
    }));
    if (step.together) await this.memory.ingestToolResults(results, this.#turn());
    else await Promise.all(results.map((result) => this.memory.ingestToolResults([result], this.#turn())));
  }

  async #ledger(step: Step & { readonly do: 'ledger' }): Promise<void> {
    const open = this.memory.openCalls();
    const picked = open[step.pick % Math.max(1, open.length)];
    if (!picked) return;
    const call = { callId: picked.call.id, toolName: picked.call.name, turnId: picked.turnId ?? '' };
    const { ledger } = this.memory;
    if (step.event === 'approval') await ledger.approvalRequested(call);
    else if (step.event === 'started') await ledger.started(call, { idempotent: true }).catch(() => {});
    else await ledger.finished(call, { result: 'from the ledger', error: null });
  }

  async #reset(keep: number): Promise<void> {
    const messages = this.memory.getWorkingContextMessages();
    const system = messages.filter(({ role }) => role === 'system');
    const talk = messages.filter(({ role }) => role === 'user').slice(-keep - 1);
    await this.memory.resetWorkingContextSnapshot([...system, ...talk]);
  }

  async #burst(step: Step & { readonly do: 'burst' }): Promise<void> {
    const { memory } = this;
    const turnId = this.#turn();
    const results = memory.openCalls().map(({ call, turnId: own }) => ({
      callId: call.id,
      toolName: call.name,
      result: 'at once',
      ...(own === undefined ? {} : { turnId: own }),
    }));
    const saves = Array.from({ length: step.saves }, () => memory.persistWorkingContextSnapshot());
    await Promise.all([
      ...step.texts.map((text) => memory.ingestUserMessage(text, turnId)),
      ...results.map((result) => memory.ingestToolResults([result], turnId)),
      ...saves,
      memory.endTurn(),
    ]);
  }

  async #wakeZombie(text: string): Promise<void> {
    if (!this.#zombie) return;
    // Before the first append of the new owner nothing is sealed, and the old one's record may or may not count.
    await this.memory.ingestUserMessage('I am here now.', this.#turn());
    // It may still write into the cache for a moment, because it looked at its lease just now: the reader sees through that.
    await this.#zombie.persistWorkingContextSnapshot();
    const written = this.#zombie.ingestUserMessage(`zombie ${text}`, this.#zombie.startTurn());
    await expect(written).rejects.toMatchObject({ code: 'LEASE_LOST' });
  }

  /** Killed. The three ways back give the same list: the live one, with the interrupted calls closed. */
  async crash(step: Omit<Step & { readonly do: 'crash' }, 'do'>): Promise<void> {
    const live = this.memory;
    const last = await this.#storage.documents.readBytes(CACHE);
    const earlier = this.#caches[step.pick % this.#caches.length]!;
    const texts: string[] = [];
    for (const cache of [earlier, null, last]) {
      await this.#putCache(cache);
      const report = await this.#open(null, { readOnly: true });
      this.sources.add(report.source);
      // What a process that had lost the agent wrote behind the seal is told; nothing else may be damaged.
      expect(report.damage.filter(({ reason }) => reason !== 'after-seal' || !this.#zombie)).toStrictEqual(
        [],
      );
      expect(checkHistory(this.memory.getWorkingContextMessages())).toStrictEqual([]);
      expectClosed(live, this.memory, report);
      texts.push(stateText(this.memory));
      await this.#opened.close();
    }
    expect(texts[0]).toBe(texts[2]);
    expect(texts[1]).toBe(texts[2]);
    await this.#putCache(step.cache === 'last' ? last : step.cache === 'earlier' ? earlier : null);
    await this.#open(step.prompt, {});
    this.#zombie = live;
    this.#turnId = live.lastTurn > 0 ? formatTurnId(live.lastTurn) : '';
    // A new prompt is written with the next trace or save: a crash before it gives the old one, by design.
    if (step.prompt === null) expect(stateText(this.memory)).toBe(texts[2]);
    else await this.memory.persistWorkingContextSnapshot();
  }

  async #putCache(bytes: Uint8Array | null): Promise<void> {
    const { documents } = this.#storage;
    if (bytes) await documents.writeBytes(CACHE, bytes, { durability: 'cache' });
    else await documents.delete(CACHE);
  }

  /** Lets go as a process does that ends well. */
  async end(): Promise<void> {
    await this.#opened.close();
  }
}

/** Everything that the next turn depends on. */
function stateText(memory: MemoryManager): string {
  return canonicalJson({
    messages: memory.getWorkingContextMessages().map(messageToJson),
    epochId: memory.epochId,
    lastCompactionTs: memory.lastCompactionTs,
    lastTurn: Math.max(memory.lastTurn, 0),
  });
}

/** The restored list is the live one with one result for each call that was open, in its block, and nothing else. */
function expectClosed(live: MemoryManager, restored: MemoryManager, report: RestoreReport): void {
  const before = live.getWorkingContextMessages().map((message) => canonicalJson(messageToJson(message)));
  const open = live.openCalls();
  let at = 0;
  const added: string[] = [];
  for (const message of restored.getWorkingContextMessages()) {
    if (canonicalJson(messageToJson(message)) === before[at]) at += 1;
    else
      added.push(
        toolResultOf(message)?.toolCallId ?? `not a result: ${JSON.stringify(messageToJson(message))}`,
      );
  }
  expect(at).toBe(before.length);
  expect(added.sort()).toStrictEqual(open.map(({ call }) => call.id).sort());
  expect(report.interruptedCalls).toHaveLength(open.length);
  expect(restored.epochId).toBe(live.epochId);
  expect(restored.lastCompactionTs).toBe(live.lastCompactionTs);
}
