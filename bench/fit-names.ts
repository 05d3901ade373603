/**
 * Names (paths, symbols, ids) that the calls of a session's last 40 % use and that were said before: how many of them the
 * context still has, and how many of the others its tools bring back.
 */
import { O200kTokenCounter } from '../src/memory/compaction/token-counter.js';
import { memoryTools } from '../src/memory/tools/memory-tools.js';
import { type Message, toolCallsOf } from '../src/messages/message.js';
import { AGENT, openReplay, type Replay, type Session, systemOf } from './fit-sessions.js';

const CUT = 0.6;
const CHARS_MIN = 5;
const CHARS_MAX = 120;
const SHORT_CHARS = 300;
const WORD = /[\w@.#/-]+/g;
/** A path, a file name, camel case, snake case, a word with digits. */
const NAME = /\/|\.[a-z]\w{0,4}$|[a-z][A-Z]|_|[A-Za-z].*\d|\d.*[A-Za-z]/;

export interface NamesKept {
  needed: number;
  newestOnly: number;
  inContext: number;
  gone: number;
  broughtBack: number;
  /** Shares in the context, one a session. */
  readonly bySession: number[];
  /** Tokens of the context at the cut, as a share of the budget. */
  readonly sizes: number[];
}

export const noNames = (): NamesKept => ({
  needed: 0,
  newestOnly: 0,
  inContext: 0,
  gone: 0,
  broughtBack: 0,
  bySession: [],
  sizes: [],
});

const counter = new O200kTokenCounter();

/** @param atOnce the part before the cut is made to fit at its end only, as an import is; else before each request */
export async function namesKept(
  session: Session,
  budget: number,
  atOnce: boolean,
  kept: NamesKept,
): Promise<void> {
  const cut = Math.floor(session.messages.length * CUT);
  const before = session.messages.slice(0, cut);
  if ((await counter.countMessages(before)) <= budget) return;
  const needed = neededNames(before, session.messages.slice(cut));
  const replay = await openReplay(budget, systemOf(session));
  for (const message of before) {
    if (message.role === 'assistant' && !atOnce) await replay.memory.fit({});
    await replay.tell(message);
  }
  await replay.memory.fit({});
  const context = replay.memory.getWorkingContextMessages();
  kept.sizes.push((await counter.countMessages(context)) / budget);
  const text = textOfAll(context);
  const newest = textOfAll(await newestWithin(before, budget));
  const { inContext } = kept;
  for (const name of needed) {
    kept.needed += 1;
    if (newest.includes(name)) kept.newestOnly += 1;
    if (text.includes(name)) kept.inContext += 1;
    else {
      kept.gone += 1;
      if (await comesBack(name, text, replay)) kept.broughtBack += 1;
    }
  }
  if (needed.size > 0) kept.bySession.push((kept.inContext - inContext) / needed.size);
  await replay.close();
}

function neededNames(before: readonly Message[], after: readonly Message[]): Set<string> {
  const said = textOfAll(before);
  const names = new Set<string>();
  for (const call of after.flatMap(toolCallsOf)) {
    for (const text of textsIn(call.arguments)) {
      for (const [word] of text.matchAll(WORD)) {
        const name = word.replace(/^[-.]+|[./-]+$/g, '');
        const isName = name.length >= CHARS_MIN && name.length <= CHARS_MAX && NAME.test(name);
        if (isName && said.includes(name)) names.add(name);
      }
    }
  }
  return names;
}

/** Short values only: paths, commands, patterns, ids. What a file's new text names is read anew, and argument names stand in the schema. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return value.length <= SHORT_CHARS ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}

/** What a model can read in the messages. */
function textOfAll(messages: readonly Message[]): string {
  const readable = (key: string, value: unknown) =>
    key === 'signature' || key === 'encrypted' || key === 'extra' ? undefined : value;
  return messages
    .flatMap((message) => {
      const texts: string[] = [];
      JSON.stringify(message, (key, value: unknown) => {
        const shown = readable(key, value);
        if (typeof shown === 'string') texts.push(shown);
        return shown;
      });
      return texts;
    })
    .join('\n');
}

/** The baseline: as many of the newest messages as the whole budget takes. */
async function newestWithin(messages: readonly Message[], budget: number): Promise<Message[]> {
  const newest: Message[] = [];
  let room = budget;
  for (const message of [...messages].reverse()) {
    room -= await counter.countMessages([message]);
    if (room < 0) break;
    newest.unshift(message);
  }
  return newest;
}

/** By a search of the agent's traces, or in a stored text that the context names. */
async function comesBack(name: string, context: string, { backend }: Replay): Promise<boolean> {
  const tools = memoryTools({ backend, agentId: AGENT });
  const run = (tool: string, args: Record<string, string | number>) =>
    tools
      .find((one) => one.name === tool)!
      .execute(args, {
        callId: 'c',
        turnId: 't',
        idempotencyKey: 'k',
        signal: new AbortController().signal,
      });
  // A ranked search may give what only resembles the name: the name itself must stand in what comes back.
  const found = (await run('memory_search', { query: name, limit: 10 })) as { readonly results: unknown };
  if (textOfAll([found.results as Message]).includes(name)) return true;
  const refs = new Set([...context.matchAll(/"ref":"([0-9a-f]+)"/g)].map(([, ref]) => ref!));
  for (const ref of refs) {
    const read = JSON.stringify(await run('read_result', { ref, search: name }));
    if (!read.includes('"matches":[]')) return true;
  }
  return false;
}
