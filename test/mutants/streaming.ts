import { crash, inFile, type Mutant } from './mutant.js';

const STREAM = ['test/agent/model/durable-stream.test.ts'];
const PARTS = ['test/memory/store/answer-parts.test.ts'];
const HOSTS = ['test/agent/context/record-response.test.ts'];
const STORED = ['test/streams/durable-streams.test.ts'];
const SUBSCRIBED = ['test/streams/subscriptions.test.ts'];
const SERVED = ['test/server/stream-endpoints.test.ts'];

export const streaming: readonly Mutant[] = [
  ...inFile('src/agent/model/durable-stream.ts', STREAM, [
    [
      'stream-delivered-before-written',
      'if (part) await this.#sink.write(part);',
      'if (part) void this.#sink.write(part);',
    ],
    ['stream-textless-overtakes', ' && !this.#committing) {', ') {'],
    ['stream-without-pause', 'if (pause > 0) await this.#pause(pause);', ''],
    ['stream-secret-in-two-pieces', '!this.#sink.byLines || !isText(part) || endsLine(part)', 'true'],
    [
      'stream-read-without-bound',
      'if (this.#waiting.length + this.ready.size > UNREAD_MAX) await this.#room();',
      '',
    ],
  ]),
  ...inFile('src/memory/store/answer-parts.ts', PARTS, [
    ['parts-discarded-and-kept', "row['discarded'] === true || ", ''],
    ['parts-never-removed', "await (await this.#store.journal('answer_parts')).removeBefore(last + 1);", ''],
    [
      'parts-of-the-answer-missed',
      "entry.record['after'] < after",
      "entry.record['after'] <= after",
      crash('streamed-answer'),
    ],
    [
      'parts-of-older-answers',
      "entry.record['after'] < after",
      "entry.record['after'] < 0",
      crash('streamed-answer'),
    ],
  ]),
  ...inFile(
    'src/memory/store/read-answer.ts',
    ['test/server/answer-endpoint.test.ts'],
    [
      ['answer-read-twice', 'if (seq > after && (', 'if (seq >= after && ('],
      ['answer-of-a-dead-process', "if (holder?.alive) return 'writing';", "return 'writing';"],
      [
        'answer-without-its-end',
        'found = await partsAfter(place.journal, after, found);\n    if (found',
        'if (found',
      ],
      ['answer-wait-not-ended', 'left <= 0 || signal?.aborted', 'left <= 0'],
    ],
  ),
  ...inFile('src/memory/store/redacted-pieces.ts', PARTS, [
    ['parts-with-secrets', 'this.#redactor.text(this.#given[kind])', 'this.#given[kind]'],
  ]),
  ...inFile('src/memory/restore/keep-cut-off-answers.ts', HOSTS, [
    ['cut-off-not-marked', "...(response === null ? { status: 'failed' } : {}),", ''],
    ['text-apart-from-its-calls', 'messageId: response ?? messageId,', 'messageId,'],
  ]),
  ...inFile('src/agent/loop/turn-loop.ts', PARTS, [
    [
      'failed-answer-forgotten',
      "if (parts) await this.#keepPartial(turnId, response, 'failed').catch(() => {}); // report the first error",
      '',
    ],
  ]),
  ...inFile(
    'src/memory/erasure/part-scope.ts',
    ['test/agent/erasure/erase-part.test.ts'],
    [['erasure-leaves-parts', "'answer_parts'], () => true);", "'answer_parts'], () => false);"]],
  ),
  ...inFile('src/streams/append-decision.ts', STORED, [
    ['stream-repeat-stored-twice', 'if (seq <= known.seq) return', 'if (seq < known.seq) return'],
    ['stream-end-not-compared', 'if (expected !== null && expected !== next)', 'if (expected === -1)'],
  ]),
  ...inFile('src/streams/stream-fold.ts', STORED, [
    ['stream-loss-unseen', 'this.#state.tail = record.from;', ''],
    ['stream-position-used-twice', 'this.#lostAtEnd = bytes;', ''],
  ]),
  ...inFile('src/streams/stream-lifetimes.ts', STORED, [
    ['stream-fork-not-held', "ops: [{ op: 'hold', fork: fork.id, path: fork.path }],", 'ops: [] as never,'],
  ]),
  ...inFile('src/streams/read-times.ts', STORED, [
    [
      'stream-reading-elsewhere-ignored',
      'const stored = await this.stored();',
      'const stored = null as Expiry | null;',
    ],
  ]),
  ...inFile('src/streams/subscriptions/subscription.ts', SUBSCRIBED, [
    ['wake-without-proof', ' && wake.tokenDigest === tokenDigest', ''],
  ]),
  ...inFile('src/server/http/streams/webhook-calls.ts', SUBSCRIBED, [
    [
      'webhook-in-private-network',
      'if (found.some(({ address }) => isInternalAddress(address)))',
      'if (found.length === 0)',
    ],
  ]),
  ...inFile('src/server/http/streams/stream-events.ts', SERVED, [
    ['stream-half-a-character', 'isText && !isEnd ? unfinished(chunk) : 0;', '0;'],
  ]),
  ...inFile('src/server/http/streams/streams-http.ts', SERVED, [
    [
      'stream-written-by-readers',
      "if (action === 'write' && !principal.mayWrite)",
      'if (principal === null)',
    ],
  ]),
];
