/** A store whose operations are measured: spans and metrics for a host's OpenTelemetry. */
import { RekindleError } from '../core/errors.js';
import type { JsonObject } from '../core/json.js';
import { Telemetry, type TelemetryOptions } from '../core/telemetry.js';
import { ForwardingJournal } from './forwarding-journal.js';
import { ForwardingStorage } from './forwarding-storage.js';
import type {
  AppendOptions,
  AppendResult,
  Journal,
  JournalOptions,
  Lease,
  LeaseOptions,
  Leases,
  Name,
  StorageBackend,
} from './ports.js';

/**
 * The same store with spans and metrics of its appends and leases, and of everything that agents, hosts and servers do over it: turns,
 * tools, restores, recalls, compactions and erasures. Contents are never recorded. `close` closes the given store.
 *
 *     import { metrics, trace } from '@opentelemetry/api';
 *
 *     const tracer = trace.getTracer('rekindle');
 *     const storage = withTelemetry(openStorage('file:./memory'), { tracer, meter: metrics.getMeter('rekindle') });
 *     const agent = await openAgent('desk', { storage, model });
 *
 * @throws INVALID_ARGUMENT without a tracer and a meter
 */
export function withTelemetry(backend: StorageBackend, options: TelemetryOptions): StorageBackend {
  if (!options.tracer && !options.meter) {
    throw new RekindleError('INVALID_ARGUMENT', 'withTelemetry needs a tracer, a meter, or both.', {
      details: { field: 'tracer' },
    });
  }
  return new MeasuredStorage(backend, options);
}

class MeasuredStorage extends ForwardingStorage {
  override readonly telemetry: Telemetry;
  override readonly leases: Leases;
  /** For what the store below measures itself. */
  readonly #own: Telemetry;

  constructor(backend: StorageBackend, options: TelemetryOptions) {
    super(backend);
    this.#own = new Telemetry(options);
    this.telemetry = new Telemetry(options, backend.telemetry ?? null);
    this.leases = new MeasuredLeases(backend.leases, this.#own);
  }

  override async openJournal<R extends JsonObject>(
    name: Name,
    options?: JournalOptions,
  ): Promise<Journal<R>> {
    return new MeasuredJournal(await this.inner.openJournal<R>(name, options), name, this.#own);
  }
}

class MeasuredJournal<R extends JsonObject> extends ForwardingJournal<R> {
  readonly #telemetry: Telemetry;
  readonly #name: string;
  /** The part of the store, such as `agents`: names themselves would give a time series each. */
  readonly #labels: { readonly 'rekindle.area': string };

  constructor(inner: Journal<R>, name: Name, telemetry: Telemetry) {
    super(inner);
    this.#telemetry = telemetry;
    this.#name = name.join('/');
    this.#labels = { 'rekindle.area': name[0] ?? '' };
  }

  override async append(records: readonly R[], options?: AppendOptions): Promise<AppendResult> {
    const attributes = { 'rekindle.name': this.#name, 'rekindle.records': records.length };
    const init = { operation: 'append', attributes, labels: this.#labels } as const;
    const result = await this.#telemetry.measure(init, () => this.inner.append(records, options));
    this.#telemetry.count('records', 'record', records.length, this.#labels);
    return result;
  }
}

class MeasuredLeases implements Leases {
  readonly #inner: Leases;
  readonly #telemetry: Telemetry;

  constructor(inner: Leases, telemetry: Telemetry) {
    this.#inner = inner;
    this.#telemetry = telemetry;
  }

  acquire(name: Name, options?: LeaseOptions): Promise<Lease> {
    const init = { operation: 'lease', attributes: { 'rekindle.name': name.join('/') } } as const;
    return this.#telemetry.measure(init, () => this.#inner.acquire(name, options));
  }

  inspect(name: Name): ReturnType<Leases['inspect']> {
    return this.#inner.inspect(name);
  }

  list(prefix: Name): Promise<Name[]> {
    return this.#inner.list(prefix);
  }
}
