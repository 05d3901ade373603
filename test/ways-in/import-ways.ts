/** Transcripts: in the shapes of the providers, faults and all, and as our own exporters write them. */
import fc from 'fast-check';
import { isRekindleError } from '../../src/core/errors.js';
import { importTranscript } from '../../src/memory/importing/import-transcript.js';
import { EXPORTERS } from '../../src/messages/exporters/exporters.js';
import { contextOf, openTranscript } from '../../src/messages/importers/read-transcript.js';
import { sourceOf } from '../../src/messages/importers/source.js';
import { repairHistory } from '../../src/messages/legality/history.js';
import type { Message } from '../../src/messages/message.js';
import type { MemoryStorage } from '../../src/storage/memory/memory-storage.js';
import { expectThat } from '../fuzz/fuzz-target.js';
import { AGENT } from '../fuzz/restored.js';
import { faultyHistory } from '../messages/legality/histories.js';
import { BLOCK_FORMATS } from './block-formats.js';
import type { Format } from './carried.js';
import { exactText } from './compare.js';
import { conversation } from './conversations.js';
import { DATASET_FORMATS } from './dataset-formats.js';
import { EVENT_FORMATS } from './event-formats.js';
import { REQUEST_FORMATS } from './request-formats.js';
import { documentOf, meaningOf, SHAPES, type Shape } from './shapes.js';
import { TEXT_FORMATS } from './text-formats.js';
import { TURN_FORMATS } from './turn-formats.js';
import type { Expected, WayIn } from './ways.js';

/** What the importer of the text reads, repaired. */
async function imported(text: string, storage: MemoryStorage, importer?: string): Promise<Expected> {
  const transcript = await openTranscript(sourceOf(text));
  if (importer !== undefined)
    expectThat(transcript.format === importer, `it is read as ${transcript.format}`);
  await importTranscript(storage, AGENT, sourceOf(text));
  const read = await contextOf(transcript);
  return { what: 'the repaired list that the importer reads', messages: repairHistory(read).messages };
}

function wayOfShape(shape: Shape): WayIn {
  return {
    name: `import ${shape.name}`,
    originals: conversation,
    async bring(history, storage) {
      const read = await imported(documentOf(shape, history), storage);
      const { messages } = repairHistory(meaningOf(shape, history));
      return [read, { what: 'the repaired original', messages }];
    },
  };
}

/** A format of one program is read by one importer, and most of them share their parts: a quarter of the histories will do. */
const FORMAT_SHARE = 1 / 4;

function wayOfFormat({ name, importer = name, ...format }: Format): WayIn {
  return {
    name: `import ${name}`,
    share: FORMAT_SHARE,
    originals: conversation,
    async bring(history, storage) {
      const said = format.says(history);
      if (said.length === 0) return null;
      const meant = format.means?.(said) ?? said;
      const { messages } = repairHistory(meant);
      try {
        const read = await imported(format.write(said), storage, importer);
        return [read, { what: 'the repaired original', messages }];
      } catch (thrown) {
        // Prompts do not count as said, also where the repair makes a note of one.
        const others = meant.filter(({ role }) => !['system', 'developer'].includes(role));
        const isBlank = repairHistory(others).messages.length === 0;
        if (isRekindleError(thrown)) expectThat(isBlank, `it is refused: ${thrown.code}`);
        throw thrown;
      }
    },
  };
}

/** A repair can write a value into a text, so the repair too has to see large integers as they are read. */
function withDigits(history: readonly Message[]): readonly Message[] {
  return JSON.parse(JSON.stringify(history, exactText)) as Message[];
}

function wayOfExporter(
  format: string,
  meaning: ((messages: readonly Message[]) => readonly Message[]) | null,
  share = 1,
): WayIn {
  const exporter = EXPORTERS.find((candidate) => candidate.format === format)!;
  return {
    name: `export ${format}`,
    share,
    originals: fc.oneof(conversation, faultyHistory),
    async bring(history, storage) {
      const text = [...exporter.write(history, { agentId: AGENT, startedAtMs: 0 })].join('');
      const read = await imported(text, storage);
      if (!meaning) return [read];
      const { messages } = repairHistory(meaning(withDigits(history)));
      return [read, { what: 'the repaired original', messages }];
    },
  };
}

const FORMATS: readonly Format[] = [
  ...REQUEST_FORMATS,
  ...BLOCK_FORMATS,
  ...EVENT_FORMATS,
  ...TURN_FORMATS,
  ...DATASET_FORMATS,
  ...TEXT_FORMATS,
];

/** The text of a tool alone is read as its result. */
function asRead(message: Message): Message {
  if (message.role !== 'tool' || message.toolPayload) return message;
  const toolPayload = { toolCallId: '', toolName: '', toolResult: message.content, toolError: null };
  return { ...message, content: null, toolPayload };
}

export const IMPORT_WAYS: readonly WayIn[] = [
  ...SHAPES.map(wayOfShape),
  ...FORMATS.map(wayOfFormat),
  wayOfExporter('rekindle', (messages) => messages.map(asRead)),
  wayOfExporter('openai-chat', null),
  wayOfExporter('anthropic', null),
  wayOfExporter('ai-sdk-ui', null),
  wayOfExporter('claude-code', null),
  wayOfExporter('openai-responses', null, FORMAT_SHARE),
  wayOfExporter('gemini', null, FORMAT_SHARE),
  wayOfExporter('codex', null, FORMAT_SHARE),
];
