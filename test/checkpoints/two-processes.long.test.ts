/** Four processes that save to one session at once; some are killed and started again, and one is stopped past its right to write. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { CheckpointService } from '../../src/checkpoints/checkpoint-service.js';
import { FileStorage } from '../../src/storage/file/file-storage.js';
import { SeededRandom } from '../../src/storage/simulated/seeded-random.js';
import { ClientProcess, withTempFolder } from '../linearizability/child-processes.js';
import { CLI_BUILD } from '../support/build-cli.js';
import { type SaveTurn, stepContext } from './step-context.js';

/** Replays a run, as far as the processes keep to the same times. */
const seed = Number(process.env['REKINDLE_SEED'] ?? Date.now() % 2 ** 31);
const WRITERS = ['a', 'b', 'c', 'd'];
const EACH = 25;
const KILLS = 4;
/** Longer than the right to write lasts without a sign of life. */
const STOP_MS = 5_600;
const SESSION = 'shared';

interface Acknowledged {
  readonly who: string;
  readonly step: number;
  readonly number: number;
}

type Start = (
  turn: Pick<SaveTurn, 'who' | 'first' | 'last'>,
  onLine: (line: string) => void,
) => ClientProcess;

/** One that saves its steps, however often it is killed. */
class Writer {
  readonly who: string;
  readonly acknowledged: Acknowledged[] = [];
  readonly failures: string[] = [];
  readonly #start: Start;
  readonly #onAnswer: (writer: Writer) => void;
  #process: ClientProcess | null = null;
  #killed = false;
  #next = 1;

  constructor(who: string, start: Start, onAnswer: (writer: Writer) => void) {
    this.who = who;
    this.#start = start;
    this.#onAnswer = onAnswer;
  }

  /** Resolves when all steps are through. */
  async run(): Promise<void> {
    while (this.#next <= EACH) {
      const turn = { who: this.who, first: this.#next, last: EACH };
      this.#killed = false;
      this.#process = this.#start(turn, (line) => this.#hear(line));
      const { code, signal, errors } = await this.#process.ended;
      if (this.#killed) continue;
      if (code !== 0) this.failures.push(`${this.who} ended with ${code ?? signal}: ${errors}`);
      return;
    }
  }

  #hear(line: string): void {
    const [what, step, number] = line.split(' ');
    this.#next = Number(step) + 1;
    if (what !== 'saved') return;
    this.acknowledged.push({ who: this.who, step: Number(step), number: Number(number) });
    this.#onAnswer(this);
  }

  kill(): void {
    this.#killed = true;
    this.#process?.signal('SIGKILL');
  }

  async stopFor(ms: number): Promise<void> {
    const stopped = this.#process;
    stopped?.signal('SIGSTOP');
    await sleep(ms);
    stopped?.signal('SIGCONT');
  }
}

describe('Processes that save to one session at once', () => {
  it('lose no checkpoint that was acknowledged, though some are killed and one is stopped past its right to write', async () => {
    console.log(`checkpoints of several processes: REKINDLE_SEED=${seed}`);
    await withTempFolder(async (folder) => {
      const store = path.join(folder, 'store');
      const writers = await saveAll(folder, store, new SeededRandom(seed));
      expect(writers.flatMap(({ failures }) => failures)).toEqual([]);
      await checkStore(
        store,
        writers.flatMap(({ acknowledged }) => acknowledged),
      );
    });
  }, 40_000);
});

async function saveAll(folder: string, store: string, random: SeededRandom): Promise<Writer[]> {
  const script = await buildChild(folder);
  const total = WRITERS.length * EACH;
  const killAfter = Array.from({ length: KILLS }, () => 5 + random.below(total - 30)).sort((a, b) => a - b);
  const stopAfter = 10 + random.below(total / 3);
  let answers = 0;
  let stopping: Promise<void> | null = null;
  /** Who was answered just now is likely to have the right to write. */
  const disturb = async (writer: Writer) => {
    answers += 1;
    if (answers >= stopAfter && !stopping)
      stopping = sleep(random.below(8)).then(() => writer.stopFor(STOP_MS));
    if (answers < (killAfter[0] ?? Number.POSITIVE_INFINITY)) return;
    killAfter.shift();
    await sleep(random.below(15));
    random.pick(writers).kill();
  };
  const writers = WRITERS.map(
    (who) =>
      new Writer(
        who,
        (turn, onLine) => new ClientProcess(script, { folder: store, sessionId: SESSION, ...turn }, onLine),
        (writer) => void disturb(writer),
      ),
  );
  await Promise.all(writers.map((writer) => writer.run()));
  expect(killAfter).toEqual([]);
  await stopping;
  return writers;
}

async function checkStore(store: string, acknowledged: readonly Acknowledged[]): Promise<void> {
  const backend = new FileStorage(store);
  const service = new CheckpointService({ backend });
  try {
    for (const { who, step, number } of acknowledged) {
      const { context } = await service.load({ checkpointId: `${SESSION}@${number}` });
      expect(context, `${who} ${step}`).toEqual(stepContext(who, step));
    }
    expect(new Set(acknowledged.map(({ number }) => number)).size).toBe(acknowledged.length);
    const { checkpoints, total } = await service.list({ sessionId: SESSION, limit: 1_000 });
    const numbers = checkpoints.map(({ number }) => number);
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => b - a));
    expect(total).toBeGreaterThanOrEqual(acknowledged.length);
    expect(await service.verify()).toMatchObject({ ok: true, problems: [], checkpoints: total });
  } finally {
    await service.close();
    await backend.close();
  }
}

/** Its sources beside it as JavaScript: `src` is what `build-cli.ts` compiled. */
async function buildChild(folder: string): Promise<string> {
  const here = fileURLToPath(new URL('.', import.meta.url));
  const target = path.join(folder, 'build', 'test', 'checkpoints');
  await fs.mkdir(target, { recursive: true });
  await fs.writeFile(path.join(folder, 'build', 'package.json'), '{"type":"module"}');
  await fs.symlink(CLI_BUILD, path.join(folder, 'build', 'src'));
  const compilerOptions = {
    module: ts.ModuleKind.ESNext,
    target: ts.ScriptTarget.ES2023,
    verbatimModuleSyntax: true,
  };
  for (const name of ['save-child', 'step-context']) {
    const source = await fs.readFile(path.join(here, `${name}.ts`), 'utf8');
    await fs.writeFile(
      path.join(target, `${name}.js`),
      ts.transpileModule(source, { compilerOptions }).outputText,
    );
  }
  return path.join(target, 'save-child.js');
}
