/** What a model sees of a list, as lines that can be compared; and what every accepted history has to stand. */
import { createHash } from 'node:crypto';
import { canonicalJson } from '../../src/core/canonical-json.js';
import { openMemory } from '../../src/memory/open-memory.js';
import {
  WorkingContextSnapshotBootstrapOptions,
  WorkingContextSnapshotBootstrapper,
} from '../../src/memory/restore/working-context-snapshot-bootstrapper.js';
import { checkHistory } from '../../src/messages/legality/history.js';
import {
  type ContentPart,
  isBlankText,
  type Message,
  partsOf,
  textOf,
  toolCallsOf,
  toolResultOf,
} from '../../src/messages/message.js';
import { messageToJson } from '../../src/messages/message-serializer.js';
import { checkRequest, project } from '../../src/messages/projections/project.js';
import { TARGETS } from '../../src/messages/projections/targets.js';
import type { MemoryStorage } from '../../src/storage/memory/memory-storage.js';
import { expectThat } from '../fuzz/fuzz-target.js';
import { AGENT, restoreTwice } from '../fuzz/restored.js';

/** Inline bytes become artifacts on their way. */
function mediaKey(ref: string): string {
  const data = /^data:[^,]*;base64,(.*)$/s.exec(ref)?.[1];
  if (data === undefined) return ref;
  return `sha256:${createHash('sha256').update(Buffer.from(data, 'base64')).digest('hex')}`;
}

/**
 * Role, parts, reasoning, calls, results. Without ids, which formats lose: in a legal list results follow in the order of their
 * calls. Without the words for a call that nobody answered: they say what is known of it, and ways in know more or less.
 */
export function seenBy(messages: readonly Message[]): string[] {
  return messages.filter(isSeen).map((message) => {
    const result = toolResultOf(message);
    const reasoning = [
      ...(message.reasoning ?? []).map(({ text, signature, encrypted }) => [text, signature, encrypted]),
      ...(message.reasoningContent === undefined ? [] : [message.reasoningContent]),
    ];
    const content = toolResultOf(message) ? { ...message, content: null } : message; // beside a result no provider gets it
    const isText = message.role === 'system'; // no provider takes media there
    const given: ContentPart[] = isText ? [{ type: 'text', text: textOf(content) }] : partsOf(content);
    const shown = given.filter((part) => part.type !== 'text' || !isBlankText(part.text));
    const parts = shown.map((part) => {
      if (part.type === 'media') return { media: mediaKey(part.media.ref) };
      return part.type === 'text' ? part.text : [part.reasoning.text, part.reasoning.signature];
    });
    const calls = toolCallsOf(message).map(({ name, arguments: given }) => [name, given]);
    return canonicalJson(
      JSON.parse(
        JSON.stringify([
          message.role === 'user' ? (message.kind ?? message.role) : message.role,
          ...(parts.length > 0 ? [{ parts }] : []),
          ...(reasoning.length > 0 && message.role === 'assistant' ? [{ reasoning }] : []),
          ...(calls.length > 0 ? [{ calls }] : []),
          ...(result && message.synthetic ? ['no result'] : []),
          ...(result && !message.synthetic ? [result.toolError ?? { value: result.toolResult }] : []),
          ...(message.status && message.role === 'assistant' ? [message.status] : []),
          ...(message.pinned ? ['pinned'] : []),
          ...(message.providerItems?.length ? [message.providerItems.map(({ item }) => item)] : []),
        ]),
        exactText,
      ),
    );
  });
}

function isSeen(message: Message): boolean {
  return message.role !== 'system' || !isBlankText(textOf(message));
}

/** Integers with more digits than a number holds are read as their digits. */
export function exactText(_: string, value: unknown): unknown {
  const isLarge = typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);
  return isLarge && !String(value).includes('e') ? String(value) : value;
}

export function expectEqual(got: readonly Message[], expected: readonly Message[], what: string): void {
  const [left, right] = [seenBy(got), seenBy(expected)];
  const at = left.findIndex((line, index) => line !== right[index]);
  const place = at < 0 ? left.length : at;
  expectThat(
    at < 0 && left.length === right.length,
    `${what}: at message ${place} (of ${left.length} and ${right.length})\n  got      ${left[place] ?? 'nothing'}\n  expected ${right[place] ?? 'nothing'}`,
  );
}

/** Restored twice, rebuilt without the cache, legal, and taken by every provider. Gives the list. */
export async function expectRestorable(
  storage: MemoryStorage,
  later: () => void,
): Promise<readonly Message[]> {
  const messages = await restoreTwice(storage);
  later();
  const { memory, close } = await openMemory(storage, AGENT, { compaction: null });
  try {
    const options = new WorkingContextSnapshotBootstrapOptions({ ignoreCache: true });
    await new WorkingContextSnapshotBootstrapper().bootstrap(memory, null, options);
    const rebuilt = memory.getWorkingContextMessages();
    const texts = [rebuilt, messages].map((list) => JSON.stringify(list.map(messageToJson)));
    expectThat(texts[0] === texts[1], 'a rebuild without the cache gives another list');
    expectThat(memory.openCalls().length > 0 || checkHistory(rebuilt).length === 0, 'the list is not legal');
  } finally {
    await close();
  }
  for (const target of TARGETS) {
    const refused = checkRequest(target, project(target, messages).request);
    expectThat(refused.length === 0, `a request to ${target} is refused: ${JSON.stringify(refused[0])}`);
  }
  return messages;
}
