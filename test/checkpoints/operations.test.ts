/** How long calls of the service take, how long they may take, and who is told. */
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { checkpointMetrics } from '../../src/checkpoints/checkpoint-metrics.js';
import type { CheckpointOperation } from '../../src/checkpoints/operation-times.js';
import { RekindleError } from '../../src/core/errors.js';
import type { StorageBackend } from '../../src/storage/ports.js';
import { errorOf, noise, Place, withBlobs } from './checkpoint-kit.js';

/** Resolves after the test, so that what waits for it can be closed. */
let atEnd: Promise<void>;
let end = () => {};

beforeEach(() => {
  atEnd = new Promise((resolve) => {
    end = resolve;
  });
});
const gone = () => new RekindleError('STORAGE_UNAVAILABLE', 'The connection was lost.', { details: {} });

afterEach(() => {
  vi.restoreAllMocks();
  end();
});

/** Journals are opened as `open` has it. */
function withJournals(storage: StorageBackend, open: StorageBackend['openJournal']): StorageBackend {
  return Object.assign(withBlobs(storage, {}), { openJournal: open });
}

describe('the listener of operations', () => {
  it('gets each call with its time, its target and the code of its error', async () => {
    const told: CheckpointOperation[] = [];
    const service = (await Place.make()).service({ onOperation: (operation) => told.push(operation) });
    await service.save({ sessionId: 's', context: { n: 1 } });
    await service.load({ sessionId: 's' });
    await service.list();
    await service.metadata({ checkpointId: 's@1' });
    await service.archive('s@1');
    await errorOf(service.load({ checkpointId: 's@9' }));
    expect(told.map(({ operation, code, targetMs }) => [operation, code, targetMs])).toEqual([
      ['save', null, 1_000],
      ['load', null, 500],
      ['list', null, 500],
      ['metadata', null, 500],
      ['change', null, 1_000],
      ['load', 'CHECKPOINT_NOT_FOUND', 500],
    ]);
    for (const { ms, targetMs, isSlow } of told) expect(isSlow).toBe(ms > targetMs);
    expect(told.every(({ ms }) => ms > 0)).toBe(true);
  });

  it('changes no outcome by what it throws', async () => {
    const onOperation = () => {
      throw new RangeError('of the listener');
    };
    const service = (await Place.make()).service({ onOperation });
    expect((await service.save({ sessionId: 's', context: {} })).status).toBe('SAVED');
    expect((await errorOf(service.load({ checkpointId: 's@9' }))).code).toBe('CHECKPOINT_NOT_FOUND');
  });
});

describe('a slow operation', () => {
  const slowBlobs = (place: Place) =>
    withBlobs(place.storage(), { beforeGet: () => new Promise((resolve) => setTimeout(resolve, 20)) });

  it('is a process warning where nobody listens, once a minute for each kind', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const place = await Place.make();
    const config = { targets: { loadMs: 10, saveMs: 2 ** 31 - 1, queryMs: 2 ** 31 - 1 } };
    const service = place.service({ backend: slowBlobs(place), config });
    await service.save({ sessionId: 's', context: { n: 1 } });
    await service.load({ sessionId: 's' });
    await service.load({ sessionId: 's' });
    expect(warned.mock.calls).toEqual([
      [
        expect.stringMatching(/^A checkpoint operation \(load\) took \d+ ms; its target is 10 ms\.$/),
        { type: 'RekindleWarning', code: 'REKINDLE_SLOW' },
      ],
    ]);
  });

  it('is counted by OpenTelemetry, beside the durations and errors of all', async () => {
    const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
    const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 60_000 });
    const provider = new MeterProvider({ readers: [reader] });
    const place = await Place.make();
    const service = place.service({
      backend: slowBlobs(place),
      config: { targets: { loadMs: 10, saveMs: 2 ** 31 - 1 } },
      onOperation: checkpointMetrics(provider.getMeter('test')),
    });
    await service.save({ sessionId: 's', context: { n: 1 } });
    await service.load({ sessionId: 's' });
    await errorOf(service.metadata({ checkpointId: 's@9' }));
    await provider.forceFlush();
    const metrics = exporter.getMetrics()[0]!.scopeMetrics[0]!.metrics;
    const points = Object.fromEntries(
      metrics.map(({ descriptor, dataPoints }) => [
        `${descriptor.name} ${descriptor.unit}`,
        dataPoints.map(({ attributes, value }) => [
          attributes,
          typeof value === 'number' ? value : (value as { count: number }).count,
        ]),
      ]),
    );
    expect(points).toEqual({
      'rekindle.checkpoint.operation.duration s': [
        [{ operation: 'save' }, 1],
        [{ operation: 'load' }, 1],
        [{ operation: 'metadata', 'error.type': 'CHECKPOINT_NOT_FOUND' }, 1],
      ],
      'rekindle.checkpoint.operation.slow {operation}': [[{ operation: 'load' }, 1]],
    });
    await provider.shutdown();
  });
});

describe('a storage that does not answer', () => {
  it('ends a list after the time of queries', async () => {
    const place = await Place.make();
    await place.service().save({ sessionId: 's', context: {} });
    const storage = place.storage();
    const backend = withJournals(storage, async (name, options) => {
      await atEnd;
      return storage.openJournal(name, options);
    });
    const service = place.service({ backend, config: { timeouts: { queryMs: 30 } } });
    const error = await errorOf(service.list({ sessionId: 's' }));
    expect(error).toMatchObject({ code: 'STORAGE_UNAVAILABLE', details: { ms: 30 } });
  });

  it('ends a load and a save after the time of data', async () => {
    const place = await Place.make();
    await place.service().save({ sessionId: 's', context: { text: noise(1, 2_000) } });
    const config = { timeouts: { fileMs: 30 } };
    const reading = withBlobs(place.storage(), { beforeGet: () => atEnd });
    const load = place.service({ backend: reading, config }).load({ sessionId: 's' });
    expect(await errorOf(load)).toMatchObject({ code: 'STORAGE_UNAVAILABLE', details: { ms: 30 } });
    const put = () => atEnd.then(() => Promise.reject(gone()));
    const writing = withBlobs(place.storage(), { put });
    const save = place.service({ backend: writing, config }).save({ sessionId: 'other', context: {} });
    expect(await errorOf(save)).toMatchObject({ code: 'STORAGE_UNAVAILABLE', details: { ms: 30 } });
    expect(await place.journal('other')).not.toContain('"save"');
  });
});

describe('a storage that is unavailable for a moment', () => {
  it('is asked again by a list and a load, within their time', async () => {
    const place = await Place.make();
    await place.service().save({ sessionId: 's', context: { n: 1 } });
    const storage = place.storage();
    let failures = 4;
    const sometimes = () => {
      failures -= 1;
      if (failures >= 0) throw gone();
    };
    const backend = withBlobs(storage, { beforeGet: async () => sometimes() });
    Object.assign(backend, {
      openJournal: async (...[name, options]: Parameters<StorageBackend['openJournal']>) => {
        if (failures > 2) sometimes();
        return storage.openJournal(name, options);
      },
    });
    expect((await place.service({ backend }).load({ sessionId: 's' })).context).toEqual({ n: 1 });
    expect(failures).toBe(-1);
  });

  it('is an error when it stays away, after the time that was given', async () => {
    const place = await Place.make();
    await place.service().save({ sessionId: 's', context: {} });
    let asked = 0;
    const backend = withJournals(place.storage(), async () => {
      asked += 1;
      throw gone();
    });
    const service = place.service({ backend, config: { timeouts: { queryMs: 200 } } });
    expect((await errorOf(service.list({ sessionId: 's' }))).code).toBe('STORAGE_UNAVAILABLE');
    expect(asked).toBeGreaterThan(1);
  });
});
