/** Seeds: what the fixtures hold, and the corpus of transcripts where it is there. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '../../src/core/json.js';
import type { Message } from '../../src/messages/message.js';
import { messageFromJson, messageToJson } from '../../src/messages/message-serializer.js';
import { MESSAGE_CASES } from '../messages/case-files.js';

const FIXTURES = fileURLToPath(new URL('../../fixtures/memory', import.meta.url));
const CORPUS = fileURLToPath(new URL('../../shared/corpus/', import.meta.url));
/** Of the corpus, small files only: what is done with an input takes the longer the longer it is. */
const CORPUS_BYTES_MAX = 8 * 1024;
const FIXTURE_BYTES_MAX = 16 * 1024;

function filesBelow(folder: string, fits: RegExp, bytesMax: number): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .sort()
    .filter((name) => fits.test(name))
    .map((name) => path.join(folder, name))
    .filter((file) => statSync(file).isFile() && statSync(file).size <= bytesMax)
    .map((file) => readFileSync(file, 'utf8'));
}

export const TRACE_FILES: readonly string[] = filesBelow(
  FIXTURES,
  /raw_traces[^/]*\.jsonl$/,
  FIXTURE_BYTES_MAX,
);
export const SNAPSHOT_FILES: readonly string[] = filesBelow(
  FIXTURES,
  /working_context_snapshot\.json$/,
  FIXTURE_BYTES_MAX,
);
export const CORPUS_FILES: readonly string[] = filesBelow(CORPUS, /\.(?:jsonl?|af|traj)$/, CORPUS_BYTES_MAX);

export const HISTORIES: readonly (readonly Message[])[] = MESSAGE_CASES.flatMap(({ messages }) =>
  messages && messages.length > 0 && messages.length < 40 ? [messages] : [],
);

/** One that the serializer knows, as JSON. */
export const STORED_MESSAGES: readonly JsonObject[] = HISTORIES.flatMap((messages) =>
  messages.map(messageToJson).filter((json) => messageFromJson(json) !== null),
);
