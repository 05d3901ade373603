/**
 * Spans and metrics of operations. The host gives a tracer and a meter, so that this package needs none of OpenTelemetry.
 */
import { isRekindleError, messageOf } from './errors.js';

/** Values that name an operation. Metrics get only those of few different values. */
export type TelemetryAttributes = Record<string, string | number | boolean>;

/** The part of an OpenTelemetry `Meter` that is used; `metrics.getMeter('rekindle')` of `@opentelemetry/api` is one. */
export interface Meter {
  createHistogram(
    name: string,
    options: {
      readonly description: string;
      readonly unit: string;
      readonly advice?: { explicitBucketBoundaries?: number[] };
    },
  ): { record(value: number, attributes: TelemetryAttributes): void };
  createCounter(
    name: string,
    options: { readonly description: string; readonly unit: string },
  ): { add(value: number, attributes: TelemetryAttributes): void };
}

/** The part of an OpenTelemetry `Span` that is used. */
export interface Span {
  setAttributes(attributes: TelemetryAttributes): unknown;
  /** Code 2 is an error. */
  setStatus(status: { readonly code: 2; readonly message: string }): unknown;
  end(): void;
}

/** The part of an OpenTelemetry `Tracer` that is used; `trace.getTracer('rekindle')` of `@opentelemetry/api` is one. */
export interface Tracer {
  /** While `run` runs, the span is the parent of the spans that it starts. */
  startActiveSpan<T>(
    name: string,
    options: { readonly attributes: TelemetryAttributes },
    run: (span: Span) => T,
  ): T;
}

/** Where spans and metrics go. At least one of them. */
export interface TelemetryOptions {
  readonly tracer?: Tracer;
  readonly meter?: Meter;
}

/** What is measured. `turn` and `tool` are spans of the GenAI conventions. */
export type Operation = 'append' | 'lease' | 'recall' | 'compact' | 'restore' | 'turn' | 'tool' | 'erase';

/** One operation: its span's name and attributes, and those that the metric gets as well. */
export interface OperationInit {
  readonly operation: Operation;
  /** Of the span. Default `rekindle.<operation>`. */
  readonly name?: string;
  readonly attributes?: TelemetryAttributes;
  /** Of few different values: every set of values is a time series. */
  readonly labels?: TelemetryAttributes;
}

/** In seconds: a commit takes a millisecond, a turn minutes. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Measures operations with the host's tracer and meter. */
export class Telemetry {
  readonly #tracer: Tracer | null;
  readonly #durations: ReturnType<Meter['createHistogram']> | null;
  readonly #counters = new Map<string, ReturnType<Meter['createCounter']>>();
  readonly #meter: Meter | null;
  /** Of the store below, which measures the same operations. */
  readonly #inner: Telemetry | null;

  constructor({ tracer, meter }: TelemetryOptions, inner: Telemetry | null = null) {
    this.#inner = inner;
    this.#tracer = tracer ?? null;
    this.#meter = meter ?? null;
    this.#durations =
      meter?.createHistogram('rekindle.operation.duration', {
        description: 'Duration of operations of agents and their storage',
        unit: 's',
        advice: { explicitBucketBoundaries: [...SECONDS] },
      }) ?? null;
  }

  /** Runs it in a span, and records how long it took. Errors pass, with their code as `error.type`. */
  measure<T>(init: OperationInit, run: (span: Span | null) => Promise<T>): Promise<T> {
    const { operation, name = `rekindle.${operation}`, attributes = {}, labels = {} } = init;
    const inner = this.#inner;
    const timed = (span: Span | null) =>
      this.#timed(init, span, inner ? () => inner.measure(init, (own) => run(own ?? span)) : run);
    return this.#tracer
      ? this.#tracer.startActiveSpan(name, { attributes: { ...labels, ...attributes } }, timed)
      : timed(null);
  }

  async #timed<T>(
    { operation, labels = {} }: OperationInit,
    span: Span | null,
    run: (span: Span | null) => Promise<T>,
  ): Promise<T> {
    const start = performance.now();
    let failed: TelemetryAttributes = {};
    try {
      return await run(span);
    } catch (thrown) {
      failed = { 'error.type': isRekindleError(thrown) ? thrown.code : 'other' };
      span?.setAttributes(failed);
      span?.setStatus({ code: 2, message: messageOf(thrown) });
      throw thrown;
    } finally {
      span?.end();
      const seconds = (performance.now() - start) / 1_000;
      this.#durations?.record(seconds, { 'rekindle.operation': operation, ...labels, ...failed });
    }
  }

  /** Adds to the counter `rekindle.<name>`. */
  count(name: string, unit: string, value: number, labels: TelemetryAttributes = {}): void {
    this.#inner?.count(name, unit, value, labels);
    if (!this.#meter || value === 0) return;
    let counter = this.#counters.get(name);
    if (!counter) {
      counter = this.#meter.createCounter(`rekindle.${name}`, {
        description: `Number of ${unit}s`,
        unit: `{${unit}}`,
      });
      this.#counters.set(name, counter);
    }
    counter.add(value, labels);
  }
}
