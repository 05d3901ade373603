import { inFile, type Mutant, wayIn } from './mutant.js';

/** What comes in is another list than the repaired original. */
export const waysIn: readonly Mutant[] = [
  ...inFile('src/memory/importing/call-batches.ts', wayIn('import rekindle'), [
    [
      'import-leaves-split-calls-apart',
      'if (result === messages) return batch;',
      'if (result) return batch;',
    ],
    [
      'import-ends-a-batch-at-a-blank',
      'if (isOpen && mendMessage(message) === null) {',
      'if (isOpen && isResult && mendMessage(message) === null) {',
    ],
  ]),
  ...inFile('src/memory/importing/transcript-traces.ts', wayIn('export rekindle'), [
    [
      'import-loses-a-late-result',
      "if (note) return [this.#note(note, 'LateResult')];",
      'if (note) return [];',
    ],
    [
      'import-loses-a-late-prompt',
      "return [...before, this.#note({ ...message, role: 'user' }, 'SystemNote')];",
      'return before;',
    ],
    [
      'import-takes-a-replay-twice',
      'return this.#contents.at(number) === digest ? null : rest;',
      'return rest;',
    ],
  ]),
  ...inFile(
    'src/memory/restore/working-context-snapshot-bootstrapper.ts',
    ['test/memory/importing/import-equals-repair.test.ts'],
    [['unfinished-call-is-answered', 'unfinishedCalls(messages[messageIndex]!).includes(call)', 'false']],
  ),
  ...inFile('src/memory/restore/import-snapshot.ts', wayIn('foreign snapshot'), [
    ['foreign-snapshot-is-not-repaired', 'if (repairs.length > 0) snapshot.replaceAll(messages);', ''],
  ]),
  ...inFile('src/memory/restore/foreign-call-ids.ts', wayIn('foreign rows'), [
    [
      'foreign-result-under-another-spelling-is-lost',
      'if (places.length > 0) this.#relink(toolCalls, places);',
      '',
    ],
  ]),
  ...inFile('src/messages/importers/kimi/kimi-steps.ts', wayIn('import kimi'), [
    ['kimi-loses-the-image-of-a-result', '...(media.length > 0 ? { parts: media } : {}),', ''],
    ['kimi-loses-encrypted-reasoning', '...(encrypted === undefined ? {} : { encrypted }),', ''],
  ]),
  ...inFile('src/messages/importers/goose/goose-blocks.ts', wayIn('import goose'), [
    ['goose-image-of-a-result-becomes-text', "if (part['type'] === 'image') return imageOf(part);", ''],
  ]),
  ...inFile('src/messages/importers/openai-agents/agents-conversation.ts', wayIn('import openai-responses'), [
    [
      'responses-gives-reasoning-to-the-call-before-it',
      'this.#parts.splice(Math.max(end, this.#partsOfCalls))',
      'this.#parts.splice(this.#toolCalls.length > 0 ? this.#parts.length : end)',
    ],
  ]),
];
