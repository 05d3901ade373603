/** Transcripts: in the shapes of the providers, faults and all, and as our own exporters write them. */
import fc from 'fast-check';
import { importTranscript } from '../../src/memory/importing/import-transcript.js';
import { EXPORTERS } from '../../src/messages/exporters/exporters.js';
import { contextOf, openTranscript } from '../../src/messages/importers/read-transcript.js';
import { sourceOf } from '../../src/messages/importers/source.js';
import { repairHistory } from '../../src/messages/legality/history.js';
import type { Message } from '../../src/messages/message.js';
import type { MemoryStorage } from '../../src/storage/memory/memory-storage.js';
import { AGENT } from '../fuzz/restored.js';
import { faultyHistory } from '../messages/legality/histories.js';
import { conversation } from './conversations.js';
import { documentOf, meaningOf, SHAPES, type Shape } from './shapes.js';
import type { Expected, WayIn } from './ways.js';

/** What the importer of the text reads, repaired. */
async function imported(text: string, storage: MemoryStorage): Promise<Expected> {
  await importTranscript(storage, AGENT, sourceOf(text));
  const read = await contextOf(await openTranscript(sourceOf(text)));
  return { what: 'the repaired list that the importer reads', messages: repairHistory(read).messages };
}

function wayOfShape(shape: Shape): WayIn {
  return {
    name: `import ${shape.name}`,
    originals: conversation,
    async bring(history, storage) {
      const read = await imported(documentOf(shape, history), storage);
      const meant = meaningOf(shape, history);
      return [
        read,
        ...(meant ? [{ what: 'the repaired original', messages: repairHistory(meant).messages }] : []),
      ];
    },
  };
}

function wayOfExporter(
  format: string,
  meaning: ((messages: readonly Message[]) => readonly Message[]) | null,
): WayIn {
  const exporter = EXPORTERS.find((candidate) => candidate.format === format)!;
  return {
    name: `export ${format}`,
    originals: fc.oneof(conversation, faultyHistory),
    async bring(history, storage) {
      const text = [...exporter.write(history, { agentId: AGENT, startedAtMs: 0 })].join('');
      const read = await imported(text, storage);
      if (!meaning) return [read];
      return [read, { what: 'the repaired original', messages: repairHistory(meaning(history)).messages }];
    },
  };
}

/** The text of a tool alone is read as its result. */
function asRead(message: Message): Message {
  if (message.role !== 'tool' || message.toolPayload) return message;
  const toolPayload = { toolCallId: '', toolName: '', toolResult: message.content, toolError: null };
  return { ...message, content: null, toolPayload };
}

export const IMPORT_WAYS: readonly WayIn[] = [
  ...SHAPES.map(wayOfShape),
  wayOfExporter('rekindle', (messages) => messages.map(asRead)),
  wayOfExporter('openai-chat', null),
  wayOfExporter('anthropic', null),
  wayOfExporter('ai-sdk-ui', null),
  wayOfExporter('claude-code', null),
];
