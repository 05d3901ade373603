/** Spans and metrics of an agent, with the real SDK of OpenTelemetry. */
import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { erase } from '../../src/agent/erasure/erase.js';
import { openAgent } from '../../src/agent/factory/agent-factory.js';
import { ScriptedModel, type ScriptStep } from '../../src/agent/model/scripted-model.js';
import { RekindleError } from '../../src/core/errors.js';
import { withTelemetry } from '../../src/storage/measured-storage.js';
import { MemoryStorage } from '../../src/storage/memory/memory-storage.js';
import type { StorageBackend } from '../../src/storage/ports.js';
import { withRedaction } from '../../src/storage/redacted-storage.js';

const CALL: ScriptStep = { calls: [{ id: 'c1', name: 'look', arguments: {} }] };
const look = {
  name: 'look',
  description: 'Looks.',
  inputSchema: { type: 'object' },
  execute: async () => trace.getTracer('tool').startActiveSpan('inside the tool', async (span) => span.end()),
} as const;

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
});
afterAll(() => {
  context.disable();
  trace.disable();
});

function measuredStore(below: StorageBackend = new MemoryStorage()) {
  const spans = new InMemorySpanExporter();
  const tracers = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
  trace.disable();
  trace.setGlobalTracerProvider(tracers);
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 1_000_000 });
  const meters = new MeterProvider({ readers: [reader] });
  onTestFinished(() => meters.shutdown());
  const storage = withTelemetry(below, { tracer: tracers.getTracer('t'), meter: meters.getMeter('t') });
  const metrics = async () => {
    await reader.forceFlush();
    return (
      exporter
        .getMetrics()
        .at(-1)
        ?.scopeMetrics.flatMap((scope) => scope.metrics) ?? []
    );
  };
  return { storage, spans: () => spans.getFinishedSpans(), metrics };
}

async function oneTurn(storage: StorageBackend, script: readonly ScriptStep[] = [CALL, { text: 'Seen.' }]) {
  const model = new ScriptedModel(script);
  const agent = await openAgent('desk', { storage, model, tools: [look] });
  onTestFinished(() => agent.stop());
  return { agent, turn: agent.send('Look there, please.') };
}

describe('a turn over a measured store', () => {
  it('is a span with its tools and appends below it, and with what the tool does below the tool', async () => {
    const { storage, spans } = measuredStore();
    const { turn } = await oneTurn(storage);
    const { turnId } = await turn;
    const named = (name: string) => spans().filter((span) => span.name === name);
    const [agent] = named('invoke_agent desk');
    const [tool] = named('execute_tool look');
    const [inside] = named('inside the tool');
    expect(agent!.attributes).toMatchObject({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.id': 'desk',
      'rekindle.turn.id': turnId,
      'rekindle.turn.status': 'completed',
      'rekindle.turn.steps': 2,
    });
    expect(tool!.attributes).toMatchObject({ 'gen_ai.tool.name': 'look', 'gen_ai.tool.call.id': 'c1' });
    expect(tool!.parentSpanContext?.spanId).toBe(agent!.spanContext().spanId);
    expect(inside!.parentSpanContext?.spanId).toBe(tool!.spanContext().spanId);
    const appends = named('rekindle.append');
    const below = appends.filter((span) => span.parentSpanContext?.spanId === agent!.spanContext().spanId);
    expect(below.map((span) => span.attributes['rekindle.name'])).toContain('agents/desk/raw_traces');
  });

  it('has spans of the lease and of the restore, and none of them has words of the conversation', async () => {
    const { storage, spans } = measuredStore();
    const first = await oneTurn(storage);
    await first.turn;
    await first.agent.stop();
    await (await oneTurn(storage, [{ text: 'Again.' }])).turn;
    const names = spans().map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['rekindle.lease', 'rekindle.restore', 'rekindle.append']));
    const restore = spans().find(({ name }) => name === 'rekindle.restore');
    expect(restore!.attributes).toMatchObject({ 'gen_ai.agent.id': 'desk', 'rekindle.source': 'cache' });
    const all = JSON.stringify(spans().map(({ name, attributes, events }) => [name, attributes, events]));
    expect(all).not.toMatch(/please|Seen/);
  });

  it('counts durations by operation, and errors by code, which its span has too', async () => {
    const { storage, metrics, spans } = measuredStore();
    const { turn } = await oneTurn(storage, [
      () => {
        throw new RekindleError('MODEL_FAILED', 'No.');
      },
    ]);
    await expect(turn).rejects.toMatchObject({ code: 'MODEL_FAILED' });
    const durations = (await metrics()).find(
      ({ descriptor }) => descriptor.name === 'rekindle.operation.duration',
    );
    const failed = durations!.dataPoints.filter(
      ({ attributes }) => attributes['error.type'] === 'MODEL_FAILED',
    );
    expect(failed.map(({ attributes }) => attributes['rekindle.operation'])).toEqual(['turn']);
    const span = spans().find(({ name }) => name === 'invoke_agent desk');
    expect(span).toMatchObject({ status: { code: 2 }, attributes: { 'error.type': 'MODEL_FAILED' } });
    const operations = new Set(
      durations!.dataPoints.map(({ attributes }) => attributes['rekindle.operation']),
    );
    expect([...operations]).toEqual(expect.arrayContaining(['append', 'lease', 'turn']));
  });

  it('gives no time series of its own to a name that somebody chose', async () => {
    const { storage, metrics } = measuredStore();
    const { turn } = await oneTurn(storage);
    await turn;
    const labels = (await metrics()).flatMap(({ dataPoints }) =>
      dataPoints.map(({ attributes }) => attributes),
    );
    expect(JSON.stringify(labels)).not.toContain('desk');
  });
});

describe('what is measured', () => {
  it('includes compactions, recalls and erasures', async () => {
    const { storage, spans } = measuredStore();
    const { agent, turn } = await oneTurn(storage, [CALL, { text: 'Seen.' }, { text: 'There.' }]);
    await turn;
    for (let n = 0; n < 6; n += 1)
      await agent.memory.ingestUserMessage(`Turn ${n}`, agent.memory.startTurn());
    await agent.memory.compact();
    await agent.send('Where did you look?');
    await agent.stop();
    await erase(storage, { agent: 'desk' });
    const names = spans().map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['rekindle.compact', 'rekindle.recall', 'rekindle.erase']));
  });

  it('is the same below another wrapper, and once for each of two measured stores', async () => {
    const inner = measuredStore();
    const outer = measuredStore(inner.storage);
    const { turn } = await oneTurn(withRedaction(outer.storage));
    await turn;
    for (const { spans } of [inner, outer]) {
      expect(spans().filter(({ name }) => name === 'invoke_agent desk')).toHaveLength(1);
      expect(spans().filter(({ name }) => name === 'rekindle.lease')).toHaveLength(1);
    }
  });

  it('is refused without a tracer and a meter', () => {
    expect(() => withTelemetry(new MemoryStorage(), {})).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT' }),
    );
  });
});
