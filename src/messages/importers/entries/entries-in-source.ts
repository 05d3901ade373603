/** The members of a message list, wherever a source has it: on lines, as the document, or below a key. */
import type { JsonValue } from '../../../core/json.js';
import { LossAccount } from '../loss-account.js';
import { readJsonLines } from '../reading/json-lines.js';
import { type JsonPath, sliceJson } from '../reading/json-slices.js';
import type { TranscriptHead, TranscriptSource } from '../transcript.js';

/** Keys of message lists whose surroundings do not identify a format. */
const LISTS: ReadonlySet<string> = new Set([
  ...['messages', 'request/messages', 'body/messages', 'request/body/messages', 'input/messages'],
  ...['input', 'contents', 'request/contents', 'body/input', 'request/input'],
]);
const HOLDERS: ReadonlySet<string> = new Set(['request', 'body', 'request/body', 'input']);

export interface PlacedEntry {
  readonly entry: JsonValue;
  /** `messages/3`, `line 4` */
  readonly place: string;
}

export async function* entriesIn(
  source: TranscriptSource,
  shape: TranscriptHead['shape'],
): AsyncGenerator<PlacedEntry> {
  if (shape === 'folder' || shape === 'text') return;
  if (shape === 'lines') {
    for await (const { value, line } of readJsonLines(source.chunks(), new LossAccount()))
      yield { entry: value, place: `line ${line}` };
    return;
  }
  for await (const { path, value } of sliceJson(source.chunks(), listChoice)) {
    if (typeof path.at(-1) !== 'number') continue;
    const list = path.length === 1 ? ['messages'] : path.slice(0, -1);
    yield { entry: value, place: [...list, path.at(-1)].join('/') };
  }
}

function listChoice(path: JsonPath): 'enter' | 'take' | 'skip' {
  if (path.length === 0) return 'enter';
  if (typeof path.at(-1) === 'number') return 'take';
  const name = path.join('/');
  return LISTS.has(name) || HOLDERS.has(name) ? 'enter' : 'skip';
}
