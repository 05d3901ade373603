/** Writes messages in their stored form: the only lossless format. */
import { messageToJson } from '../message-serializer.js';
import type { TranscriptExporter } from './transcript-exporter.js';

export const rekindleExporter: TranscriptExporter = {
  format: 'rekindle',
  title: 'Rekindle messages',
  extension: '.json',
  *write(messages, { agentId }) {
    yield `{"schema_version": 1, "agent_id": ${JSON.stringify(agentId)}, "messages": [`;
    for (const [index, message] of messages.entries())
      yield `${index === 0 ? '' : ','}\n${JSON.stringify(messageToJson(message))}`;
    yield '\n]}\n';
  },
};
