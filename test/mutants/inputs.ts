import { crash, crashSequence, inFile, type Mutant } from './mutant.js';

const QUEUE = crash('queued-inputs');
const AGENT = ['test/agent/inputs/input-queue.test.ts'];

export const inputs: readonly Mutant[] = [
  ...inFile('src/agent/inputs/input-queue.ts', QUEUE, [
    [
      'input-taken-before-its-trace',
      'await this.#memory.ingestQueuedInput(message!, turnId, id);\n      await this.#append(takenRow(id, turnId, this.#clock.nowMs()));',
      'await this.#append(takenRow(id, turnId, this.#clock.nowMs()));\n      await this.#memory.ingestQueuedInput(message!, turnId, id);',
    ],
    [
      'input-acknowledged-before-its-sync',
      'const { seq } = await (await this.#journal()).append([row]);',
      'const journal = await this.#journal();\n      const seq = (await journal.head()).seq + 1;\n      void journal.append([row]).catch(() => {});',
    ],
    [
      'input-taken-by-an-unsynced-trace',
      "await (await store.journal('raw_traces')).secure(); // a killed process may not have synced them",
      '',
      crashSequence('queued-inputs', 'add,take,!kill,add'),
    ],
    ['input-with-other-content-accepted', 'known.digest !== checked.digest', 'known.digest === null', AGENT],
  ]),
  ...inFile('src/agent/inputs/input-table.ts', QUEUE, [
    [
      'input-not-sought-in-the-traces',
      'if (open.length === 0) return [];',
      'if (open.length >= 0) return [];',
    ],
    [
      'input-order-by-arrival-only',
      'return INPUT_MODES.flatMap((wanted) => free.filter(({ mode }) => mode === wanted));',
      'return free;',
      AGENT,
    ],
  ]),
  ...inFile('src/agent/inputs/input-runner.ts', AGENT, [
    [
      'input-without-its-place',
      'this.#queue.waiting.length - this.#free;',
      'this.#queue.waiting.length - this.#scheduled.size;',
    ],
    ['input-interrupts-nothing', "if (isNew && input.mode === 'interrupt') this.#host.interrupt();", ''],
    ['input-queue-runs-on-after-a-failure', 'this.#isActive = false;\n', '\n'],
  ]),
  ...inFile(
    'src/memory/erasure/part-scope.ts',
    ['test/agent/inputs/stored-inputs.test.ts'],
    [
      [
        'erasure-leaves-inputs',
        "event === 'queued' ? done.has(textOr(id))",
        "event === 'queued' ? id === null",
      ],
    ],
  ),
];
