/**
 * LangGraph threads and lists of LangChain messages: a thread's state as its API returns it, its history, checkpoints,
 * stored lists in any of LangChain's forms, and recorded model calls. Messages that a later removal names are left out,
 * as in the state.
 */
import { utf8Text } from '../../../core/bytes.js';
import { RekindleError } from '../../../core/errors.js';
import { isJsonObject, type JsonValue } from '../../../core/json.js';
import type { Message } from '../../message.js';
import { headOf } from '../detect-format.js';
import { LossAccount } from '../loss-account.js';
import { readJsonLines } from '../reading/json-lines.js';
import { sliceJson } from '../reading/json-slices.js';
import { keepMessage } from '../reading/keep-message.js';
import { textField } from '../reading/record-fields.js';
import type { TranscriptImporter, TranscriptItem, TranscriptSource } from '../transcript.js';
import { type LangChainLayout, langChainLayoutOf } from './langchain-layout.js';
import { LangChainReader } from './langchain-message.js';
import { langChainMessageOf } from './langchain-shape.js';

const REMOVE_ALL = '__remove_all__';
/** Text that a removal contains in any of its forms. */
const REMOVALS = ['"remove"', 'RemoveMessage'];
/** Kept from the previous chunk, because a mark may cross a chunk boundary. No mark is longer. */
const BORDER_CHARS = 16;

export const langGraphImporter: TranscriptImporter = {
  format: 'langgraph',
  title: 'LangGraph threads and LangChain messages',
  lookedFor:
    'messages with `type` human, ai, tool or system and `content`, as they are, in `data`, or in `kwargs`; alone, in `messages` or `values.messages`, or one a line',
  recognises: (head) => langChainLayoutOf(head) !== null,
  read,
};

interface Member {
  readonly json: JsonValue;
  readonly place: string;
}

async function* read(source: TranscriptSource, losses: LossAccount): AsyncGenerator<TranscriptItem> {
  const head = await headOf(source);
  const layout = head && langChainLayoutOf(head);
  if (!layout) throw invalid();
  const removed = await removalsIn(source, layout);
  const reader = new LangChainReader(losses);
  let position = 0;
  for await (const { json, place } of membersOf(source, layout, losses)) {
    const fate = fateOf(json, position, removed);
    position += 1;
    if (fate !== null) losses.drop(fate, place);
    const message = fate === null ? reader.read(json, place) : null;
    if (message) yield* kept(message, losses);
  }
}

function* kept(message: Message, losses: LossAccount): Generator<TranscriptItem> {
  keepMessage(message, losses);
  yield { kind: 'message', message };
}

function membersOf(
  source: TranscriptSource,
  layout: LangChainLayout,
  losses: LossAccount,
): AsyncGenerator<Member> {
  if (layout.form === 'lines') return fromLines(source, losses);
  return layout.form === 'turns' ? fromTurns(source, losses) : fromList(source, layout.list, losses);
}

async function* fromLines(source: TranscriptSource, losses: LossAccount): AsyncGenerator<Member> {
  for await (const { value, line } of readJsonLines(source.chunks(), losses))
    yield { json: value, place: `line ${line}` };
}

async function* fromList(
  source: TranscriptSource,
  list: string,
  losses: LossAccount,
): AsyncGenerator<Member> {
  const slices = sliceJson(source.chunks(), (path) => {
    const name = path.join('/');
    if (path.length === 0 || name === list || list.startsWith(`${name}/`)) return 'enter';
    if (path.slice(0, -1).join('/') === list && typeof path.at(-1) === 'number') return 'take';
    losses.drop(
      path.length === 1 && list.startsWith('0/') ? 'an older state' : 'a field next to the messages',
      name,
    );
    return 'skip';
  });
  for await (const { path, value } of slices) {
    if (typeof path.at(-1) !== 'number') continue;
    losses.record();
    yield { json: value, place: `messages/${path.at(-1)}` };
  }
}

/** Recorded model calls hold only what the model answered, not its input. The first caller is taken as the agent. */
async function* fromTurns(source: TranscriptSource, losses: LossAccount): AsyncGenerator<Member> {
  let agent: JsonValue | undefined;
  let turns = 0;
  for await (const { path, value } of turnSlices(source, losses)) {
    const place = path.join('/');
    if (place === 'prompt') {
      if (typeof value === 'string' && turns === 0) yield { json: { type: 'human', content: value }, place };
      else losses.drop('a prompt that is not text before the turns', place);
      continue;
    }
    turns += 1;
    losses.record();
    const turn = isJsonObject(value) ? value : {};
    if (turns === 1) agent = turn['caller'];
    if (turn['caller'] === agent) yield { json: turn['output'] ?? null, place };
    else losses.drop('a model call of another part of the graph', place);
  }
}

function turnSlices(source: TranscriptSource, losses: LossAccount) {
  return sliceJson(source.chunks(), (path) => {
    const [name] = path;
    if (path.length === 0 || (name === 'turns' && path.length === 1)) return 'enter';
    if (name === 'turns' || name === 'prompt') return 'take';
    losses.drop('a field next to the messages', path.join('/'));
    return 'skip';
  });
}

/** Removed ids, with the member that removes each. Later messages may use the id again. */
async function removalsIn(source: TranscriptSource, layout: LangChainLayout): Promise<Map<string, number>> {
  const removed = new Map<string, number>();
  if (!(await mayHaveRemovals(source))) return removed;
  let position = 0;
  for await (const { json } of membersOf(source, layout, new LossAccount())) {
    const message = langChainMessageOf(json);
    if (message?.kind === 'removal') removed.set(textField(message.fields, 'id') ?? '', position);
    position += 1;
  }
  return removed;
}

/** Most threads have no removals, and are then parsed only once. */
async function mayHaveRemovals(source: TranscriptSource): Promise<boolean> {
  let tail = '';
  for await (const chunk of source.chunks()) {
    const text = tail + utf8Text(chunk);
    if (REMOVALS.some((mark) => text.includes(mark))) return true;
    tail = text.slice(-BORDER_CHARS);
  }
  return false;
}

/** Why a member is left out, in words; null if it is kept. */
function fateOf(json: JsonValue, position: number, removed: ReadonlyMap<string, number>): string | null {
  if (removed.size === 0) return null;
  const message = langChainMessageOf(json);
  if (!message) return null;
  if (message.kind === 'removal') return 'the removal of a message, which was carried out';
  const until = Math.max(
    removed.get(REMOVE_ALL) ?? -1,
    removed.get(textField(message.fields, 'id') ?? '') ?? -1,
  );
  return position < until ? 'a message that was removed later' : null;
}

function invalid(): RekindleError {
  return new RekindleError('TRANSCRIPT_INVALID', 'The document contains no list of LangChain messages.', {
    details: { lookedFor: langGraphImporter.lookedFor },
  });
}
