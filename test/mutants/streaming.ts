import { crash, inFile, type Mutant } from './mutant.js';

const STREAM = ['test/agent/model/durable-stream.test.ts'];
const PARTS = ['test/memory/store/answer-parts.test.ts'];
const HOSTS = ['test/agent/context/record-response.test.ts'];

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
];
