import { isJsonObject, tryParseJson } from '../../../src/core/json.js';
import { readMessages } from '../../../src/messages/importers/read-messages.js';
import {
  checkHistory,
  repairHistory as legal,
  repairHistory,
} from '../../../src/messages/legality/history.js';
import { messageFromJson, messageToJson } from '../../../src/messages/message-serializer.js';
import { project } from '../../../src/messages/projections/project.js';
import { TARGETS } from '../../../src/messages/projections/targets.js';
import { expectThat, type FuzzTarget } from '../fuzz-target.js';
import { expectUsable } from '../restored.js';
import { HISTORIES, STORED_MESSAGES } from '../seed-files.js';

const WORDS = [
  'role',
  'user',
  'assistant',
  'tool',
  'system',
  'content',
  'tool_payload',
  'tool_calls',
  'arguments',
  'arguments_text',
  'tool_call_id',
  'tool_result',
  'tool_error',
  'parts',
  'media',
  'reasoning',
  'signature',
  'encrypted',
  'origin',
  'provider',
  'kind',
  'message_id',
  'image_urls',
  'synthetic',
  'status',
  'type',
  'text',
  'tool_use',
  'functionCall',
];

/** A list as it is stored. */
export const storedMessages: FuzzTarget = {
  name: 'messages',
  weight: 8,
  seeds: [
    ...HISTORIES.map((messages) => JSON.stringify(messages.map(messageToJson))),
    ...STORED_MESSAGES.map((message) => JSON.stringify([message])),
  ],
  words: WORDS,
  take(input, random) {
    const list = tryParseJson(input);
    if (!Array.isArray(list) || !list.every(isJsonObject)) return false;
    const messages = list.map(messageFromJson);
    const repaired = repairHistory(messages);
    expectThat(checkHistory(repaired.messages).length === 0, 'a repaired list is not legal');
    expectUsable(repaired.messages, random);
    return true;
  },
};

/** A list as a provider's client holds it. */
export const givenMessages: FuzzTarget = {
  name: 'given-messages',
  weight: 2,
  seeds: HISTORIES.flatMap((messages) =>
    TARGETS.map((target) => {
      const request = project(target, legal(messages).messages).request as unknown as Record<string, unknown>;
      return JSON.stringify(request['messages'] ?? request['input'] ?? request['contents'] ?? []);
    }),
  ),
  words: WORDS,
  take(input, random) {
    const list = tryParseJson(input);
    if (!Array.isArray(list)) return false;
    const { messages } = readMessages(list);
    expectUsable(repairHistory(messages).messages, random);
    return true;
  },
};
