/**
 * What checkpoints cost: saving, loading, classifying, listing and verifying them, bytes on disk, memory, and the start of a service;
 * each figure beside its target and what it is compared with. A target that is missed fails nothing.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { classify, compileRules, DEFAULT_RULES } from '../src/checkpoints/index.js';
import buildCli from '../test/support/build-cli.js';
import {
  against,
  busy,
  CASES,
  type Case,
  ChangingContext,
  diskBytes,
  KEYS,
  megabytes,
  memoryOfSessions,
  NO_TARGET,
  SHAPES,
  type Shape,
  type StartTimes,
  serviceIn,
  spread,
  startOf,
  timed,
  titleOf,
  turnsOf,
  userRules,
  WithoutSync,
  writeWhole,
} from './checkpoints-support.js';
import { inTempFolder, median, ms, printTable, quantile, ratio } from './support.js';

const SAVES = 100;
const FIRST_SAVES = 5;
const LOADS = 100;
const COLD_LOADS = 20;
const SAVE_TARGET_MS = 100;
const LOAD_TARGET_MS = 50;

type Rows = (string | number)[][];

async function saveRow(folder: string, one: Case, context: ChangingContext): Promise<Rows[number]> {
  const { service, close } = serviceIn(folder, one);
  const first: number[] = [];
  for (let n = 0; n < FIRST_SAVES; n += 1)
    first.push(await timed(() => service.save({ sessionId: `first-${n}`, context: context.value })));
  await service.save({ sessionId: 'main', context: context.value });
  const [saves, wholes, gzips]: number[][] = [[], [], []];
  // By turns, so that what else the machine does meets all of them alike.
  for (let n = 0; n < SAVES; n += 1) {
    const value = context.change();
    saves!.push(await timed(() => service.save({ sessionId: 'main', context: value })));
    wholes!.push(await timed(() => writeWhole(folder, value)));
    if (n % 10 === 0) gzips!.push(await timed(() => gzipSync(JSON.stringify(value))));
  }
  await close();
  const p99 = quantile(saves!, 0.99);
  return [
    titleOf(one),
    spread(saves!),
    ms(median(first)),
    spread(wholes!),
    spread(gzips!),
    ratio(median(saves!), median(wholes!)),
    ...(one.kilobytes === 100 ? against(p99, SAVE_TARGET_MS, 'ms p99') : NO_TARGET),
  ];
}

/** Of the last of 101 checkpoints, whose parts are in as many packs. */
async function loadRow(folder: string, one: Case, saved: string): Promise<Rows[number]> {
  const [warm, cold, parse]: number[][] = [[], [], []];
  const { service, close } = serviceIn(folder, one);
  await service.load({ sessionId: 'main' });
  for (let n = 0; n < LOADS; n += 1) {
    warm!.push(await timed(() => service.load({ sessionId: 'main' })));
    parse!.push(await timed(async () => JSON.parse(await readFile(path.join(folder, 'whole.json'), 'utf8'))));
  }
  const { context } = await service.load({ sessionId: 'main' });
  if (JSON.stringify(context) !== saved) throw new RangeError('another context');
  await close();
  for (let n = 0; n < COLD_LOADS; n += 1) {
    const fresh = serviceIn(folder, one);
    cold!.push(await timed(() => fresh.service.load({ sessionId: 'main' })));
    await fresh.close();
  }
  const worst = Math.max(quantile(warm!, 0.99), quantile(cold!, 0.99));
  return [
    titleOf(one),
    spread(warm!),
    spread(cold!),
    spread(parse!),
    ratio(median(warm!), median(parse!)),
    ...(one.kilobytes === 100 ? against(worst, LOAD_TARGET_MS, 'ms p99') : NO_TARGET),
  ];
}

async function saveAndLoad(): Promise<void> {
  const [saves, loads]: Rows[] = [[], []];
  let compressed = '';
  for (const one of CASES)
    await inTempFolder(async (folder) => {
      const context = new ChangingContext(one.kilobytes);
      saves!.push(await saveRow(folder, one, context));
      const text = JSON.stringify(context.value);
      compressed = (text.length / gzipSync(text).length).toFixed(1);
      loads!.push(await loadRow(folder, one, text));
    });
  const title = `a context of ${KEYS} keys that gzip makes ${compressed} times smaller; ms, p50 / p99`;
  printTable(
    `Save of ${title} of ${SAVES} that each change 1 KB; the first of a session, p50 of ${FIRST_SAVES}`,
    ['', 'save', 'first save', 'whole file, fsync', 'stringify + gzip', 'vs whole file', 'target', 'met'],
    saves!,
  );
  printTable(
    `Load of ${title} of ${LOADS}, and of ${COLD_LOADS} freshly opened services`,
    ['', 'load', 'fresh service', 'readFile + parse', 'vs readFile + parse', 'target', 'met'],
    loads!,
  );
}

async function classifying(): Promise<void> {
  const rows: Rows = [];
  for (const [title, rules] of [
    ['default rules', DEFAULT_RULES],
    ['200 rules of a user', userRules()],
  ] as const) {
    const first = await timed(() => compileRules(rules));
    const compiles: number[] = [];
    for (let n = 0; n < 20; n += 1) compiles.push(await timed(() => compileRules(rules)));
    const compiled = await compileRules(rules);
    for (const kilobytes of [100, 1_000]) {
      const { value } = new ChangingContext(kilobytes);
      const cold = await timed(() => classify(value, compiled));
      const [times, walks]: number[][] = [[], []];
      for (let n = 0; n < 100; n += 1) {
        times!.push(await timed(() => classify(value, compiled)));
        walks!.push(await timed(() => JSON.stringify(value)));
      }
      const target = against(median(times!), 10, 'ms p50');
      const compile = `${ms(first)}, ${ms(median(compiles))}`;
      rows.push([title, `${kilobytes} KB`, compile, ms(cold), spread(times!), spread(walks!), ...target]);
    }
  }
  const head = ['', 'context', 'compileRules, first and p50', 'first classify', 'classify'];
  printTable(
    `Classification of a context of ${KEYS} keys; ms, p50 / p99`,
    [...head, 'JSON.stringify', 'target', 'met'],
    rows,
  );
}

const TURNS = 200;
const GZIP_EACH = 20;

async function longSession(folder: string, shape: Shape) {
  const { service, close } = serviceIn(folder, { fileSystem: new WithoutSync() });
  const saves: number[] = [];
  const texts: string[] = [];
  let turn = 0;
  for (const context of turnsOf(shape, TURNS)) {
    saves.push(await timed(() => service.save({ sessionId: 'main', context })));
    if (turn % GZIP_EACH === 0) texts.push(JSON.stringify(context));
    turn += 1;
  }
  const gzipped = texts.map((text) => gzipSync(text).length);
  const one = Buffer.byteLength(texts[0]!);
  const place = path.join(folder, 'store', 'checkpoints', 'sessions', 'main');
  const [packs, all] = [await diskBytes(path.join(place, 'packs')), await diskBytes(place)];
  const disk = [
    shape.title,
    megabytes(packs.files),
    megabytes(all.files),
    megabytes(all.fileBlocks),
    megabytes(all.folderBlocks),
    megabytes(one),
    megabytes(gzipped[0]!),
    megabytes(gzipped.reduce((sum, bytes) => sum + bytes, 0) * GZIP_EACH),
    ms(median(saves)),
    ratio(all.fileBlocks + all.folderBlocks, one),
    ...against((all.fileBlocks + all.folderBlocks) / one, 5, 'x'),
  ];
  const start = performance.now();
  const report = await service.verify();
  const seconds = (performance.now() - start) / 1_000;
  if (!report.ok || report.checkpoints !== TURNS) throw new RangeError('not what was saved');
  await close();
  const bareMs = await timed(() => {
    for (const text of texts) {
      JSON.parse(text);
      createHash('sha256').update(text).digest();
    }
  });
  const speed = (bytes: number, forSeconds: number) => (bytes / 1e6 / forSeconds).toFixed(0);
  const verify = [
    shape.title,
    seconds.toFixed(2),
    speed(one * TURNS, seconds),
    speed(packs.files, seconds),
    speed(one * texts.length, bareMs / 1_000),
  ];
  return { disk, verify };
}

async function sessions(): Promise<void> {
  const found: Awaited<ReturnType<typeof longSession>>[] = [];
  for (const shape of SHAPES) found.push(await inTempFolder((folder) => longSession(folder, shape)));
  const baselines = ['one as JSON', 'one gzipped', `${TURNS} gzipped`];
  const parts = ['packs', 'all files', 'blocks of files', 'of folders'];
  printTable(
    `${TURNS} checkpoints of a context of 1 MB, of which 1 % changes from one to the next; MB on disk (${TURNS} gzipped: from every ${GZIP_EACH}th)`,
    ['', ...parts, ...baselines, 'save without sync, p50 ms', 'blocks vs one', 'target', 'met'],
    found.map(({ disk }) => disk),
  );
  printTable(
    'Verifying them',
    ['', 's', 'MB/s of contexts', 'MB/s of packs', 'JSON.parse + SHA-256, MB/s'],
    found.map(({ verify }) => verify),
  );
}

const CHECKPOINTS = 1_000;
const LISTS = 20;

async function listing(): Promise<void> {
  const rows: Rows = [];
  for (const count of [1, 20])
    await inTempFolder(async (folder) => {
      const all = { limit: CHECKPOINTS };
      const made = serviceIn(folder, { fileSystem: new WithoutSync() });
      for (let n = 0; n < CHECKPOINTS; n += 1)
        await made.service.save({ sessionId: `session-${n % count}`, context: { n, step: `step ${n}` } });
      const [warm, page, cold, parse]: number[][] = [[], [], [], []];
      const { checkpoints } = await made.service.list(all);
      if (checkpoints.length !== CHECKPOINTS) throw new RangeError('another list');
      const text = JSON.stringify(checkpoints);
      for (let n = 0; n < LISTS; n += 1) {
        warm!.push(await timed(() => made.service.list(all)));
        page!.push(await timed(() => made.service.list()));
        const fresh = serviceIn(folder);
        cold!.push(await timed(() => fresh.service.list(all)));
        await fresh.close();
        parse!.push(await timed(() => JSON.parse(text)));
      }
      await made.close();
      const kinds = { 'all, warm': warm!, 'first page of 20, warm': page!, 'all, fresh service': cold! };
      for (const [kind, times] of Object.entries(kinds))
        rows.push([count, kind, spread(times), spread(parse!), ...against(median(times), 20, 'ms p50')]);
    });
  printTable(
    `List of ${CHECKPOINTS} small checkpoints; ms, p50 / p99 of ${LISTS}`,
    ['sessions', '', 'list', 'JSON.parse of it', 'target', 'met'],
    rows,
  );
}

const STARTS = 10;

async function memory(): Promise<void> {
  const rows: Rows = [];
  for (const isBare of [false, true])
    await inTempFolder(async (folder) => {
      const added = memoryOfSessions(folder, isBare);
      const title = isBare ? 'only stringify + gzip' : '100 sessions';
      const target = isBare ? NO_TARGET : against(added.rss / 1e6, 50, 'MB');
      rows.push([title, megabytes(added.rss), megabytes(added.live), ...target]);
    });
  printTable(
    '100 active sessions in one process, each saved twice with 100 KB; MB added, after a forced collection',
    ['', 'resident', 'live objects and buffers', 'target', 'met'],
    rows,
  );
}

async function starting(): Promise<void> {
  const runs = await inTempFolder(async (folder) =>
    Array.from({ length: STARTS }, (_, n) => startOf(path.join(folder, `${n}`))),
  );
  const of = (key: keyof StartTimes) => runs.map((run) => run[key]);
  printTable(
    `Start in a fresh process on an empty store: construct and first list; ms, p50 / max of ${STARTS}`,
    ['start', 'imports before it', 'node before that', 'first save of the process', 'target', 'met'],
    [
      [
        ...(['start', 'imports', 'node', 'save'] as const).map(
          (key) => `${ms(median(of(key)))} / ${ms(Math.max(...of(key)))}`,
        ),
        ...against(median(of('start')), 100, 'ms p50'),
      ],
    ],
  );
}

buildCli();
process.stdout.write(`\nBefore: ${busy()}\n`);
for (const part of [saveAndLoad, classifying, sessions, listing, memory, starting]) await part();
process.stdout.write(`\nAfter: ${busy()}\n`);
