/** What the serializer lets in, every other part can live with: a file by another tool must not end in a TypeError somewhere else. */
import fc from 'fast-check';
import { describe, it } from 'vitest';
import { isRekindleError } from '../../src/core/errors.js';
import type { JsonObject, JsonValue } from '../../src/core/json.js';
import { ExtractiveSummarizer } from '../../src/memory/compaction/extractive-summarizer.js';
import { tokenBound } from '../../src/memory/compaction/token-counter.js';
import { WorkingContextSnapshot } from '../../src/memory/working-context-snapshot.js';
import { checkHistory, repairHistory } from '../../src/messages/legality/history.js';
import type { Message } from '../../src/messages/message.js';
import { messageFromJson, messageToJson } from '../../src/messages/message-serializer.js';
import { checkRequest, project } from '../../src/messages/projections/project.js';
import { TARGETS } from '../../src/messages/projections/targets.js';
import { runParameters } from '../property/seed.js';
import { jsonValue } from './arbitraries.js';

const odd: fc.Arbitrary<JsonValue> = fc.oneof(
  jsonValue,
  fc.constantFrom<JsonValue>(null, '', 'text', 0, true, [], {}, [null], [{}], [[]]),
);

/** Objects that almost are what is expected in their place. */
const almost = fc
  .dictionary(
    fc.constantFrom(
      'type',
      'text',
      'media',
      'kind',
      'ref',
      'mime',
      'signature',
      'origin',
      'provider',
      'item',
      'metadata',
      'id',
    ),
    fc.oneof(
      odd,
      fc.constantFrom<JsonValue>(
        'text',
        'media',
        'image',
        'https://example.com',
        { kind: 'image' },
        { provider: 'p' },
      ),
    ),
    { maxKeys: 4 },
  )
  .map((value) => ({ ...value }) as JsonObject);

const payload = fc.oneof(
  odd,
  fc.record({
    tool_calls: fc.array(
      fc.oneof(odd, fc.record({ id: odd, name: odd, arguments: odd, arguments_text: odd })),
      { maxLength: 3 },
    ),
  }),
  fc.record({
    tool_call_id: fc.oneof(odd, fc.constant('a')),
    tool_name: odd,
    tool_result: odd,
    tool_error: odd,
  }),
) as fc.Arbitrary<JsonValue>;

const stored: fc.Arbitrary<JsonObject> = fc.record(
  {
    role: fc.constantFrom('system', 'user', 'assistant', 'tool'),
    content: fc.oneof(odd, fc.constantFrom<JsonValue>('text', null)),
    reasoning_content: odd,
    image_urls: fc.oneof(odd, fc.constant(['not a url', 'sha256:x'])),
    tool_payload: payload,
    parts: fc.oneof(odd, fc.array(almost, { maxLength: 3 })),
    reasoning: fc.oneof(odd, fc.array(almost, { maxLength: 3 })),
    provider_items: fc.oneof(odd, fc.array(almost, { maxLength: 3 })),
    origin: fc.oneof(odd, almost),
    kind: odd,
    synthetic: odd,
  },
  { requiredKeys: ['role'], noNullPrototype: true },
) as fc.Arbitrary<JsonObject>;

function accepted(json: JsonObject): Message[] {
  try {
    return [messageFromJson(JSON.parse(JSON.stringify(json)) as JsonObject)];
  } catch (thrown) {
    if (!isRekindleError(thrown, 'MESSAGE_INVALID')) throw thrown;
    return [];
  }
}

describe('a message that was accepted, however odd', () => {
  it('can be stored, checked, repaired, counted, summarized and projected', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(stored, { maxLength: 6 }), async (jsons) => {
        const messages = jsons.flatMap(accepted);
        for (const message of messages) {
          messageFromJson(messageToJson(message));
          tokenBound(message);
        }
        const { messages: repaired } = repairHistory(messages);
        if (checkHistory(repaired).length > 0) throw new Error('not legal after the repair');
        new WorkingContextSnapshot(messages).openCalls();
        await new ExtractiveSummarizer().summarize(repaired, { maxItemChars: 200 });
        for (const target of TARGETS) {
          const { request } = project(target, messages, { provider: 'p' });
          const [refused] = checkRequest(target, request);
          if (refused) throw new Error(`${target} would refuse it: ${refused.rule} at ${refused.path}`);
        }
      }),
      runParameters('accepted-messages', 1_500),
    );
  });
});
