/** Metrics in the text format of Prometheus (version 0.0.4). A meter like one of OpenTelemetry, so that both get the same numbers. */
import type { Meter, TelemetryAttributes } from '../../core/telemetry.js';

/** In seconds, for histograms that name no bounds. */
const BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

interface Counts {
  /** Observations up to each bound, and above the last. Not cumulative. */
  readonly buckets: number[];
  sum: number;
}

interface Family {
  readonly name: string;
  readonly help: string;
  /** Null: a counter. */
  readonly bounds: readonly number[] | null;
  /** By the text of their labels. */
  readonly series: Map<string, Counts>;
}

/** Collects counters and histograms in memory. */
export class PrometheusMeter implements Meter {
  readonly #families = new Map<string, Family>();

  createHistogram(name: string, options: Parameters<Meter['createHistogram']>[1]) {
    const { advice } = options;
    const family = this.#family(
      nameOf(name, options.unit),
      options.description,
      advice?.explicitBucketBoundaries ?? BOUNDS,
    );
    return { record: (value: number, attributes: TelemetryAttributes) => observe(family, value, attributes) };
  }

  createCounter(name: string, { description }: { readonly description: string }) {
    const family = this.#family(`${nameOf(name, '')}_total`, description, null);
    return { add: (value: number, attributes: TelemetryAttributes) => observe(family, value, attributes) };
  }

  #family(name: string, help: string, bounds: readonly number[] | null): Family {
    let family = this.#families.get(name);
    if (!family) this.#families.set(name, (family = { name, help, bounds, series: new Map() }));
    return family;
  }

  /** All of it, in the order in which it came. */
  text(): string {
    return [...this.#families.values()].flatMap(linesOf).join('');
  }
}

/** Such as `rekindle_operation_duration_seconds`. */
function nameOf(name: string, unit: string): string {
  return `${name.replace(/[^a-zA-Z0-9_:]/g, '_')}${unit === 's' ? '_seconds' : ''}`;
}

function observe({ bounds, series }: Family, value: number, attributes: TelemetryAttributes): void {
  const labels = labelsOf(attributes);
  let counts = series.get(labels);
  if (!counts)
    series.set(labels, (counts = { buckets: Array(bounds ? bounds.length + 1 : 0).fill(0), sum: 0 }));
  counts.sum += value;
  if (!bounds) return;
  const above = bounds.findIndex((bound) => value <= bound);
  counts.buckets[above === -1 ? bounds.length : above]! += 1;
}

function labelsOf(attributes: TelemetryAttributes): string {
  return Object.keys(attributes)
    .sort()
    .map((key) => `${key.replace(/[^a-zA-Z0-9_]/g, '_')}="${escaped(String(attributes[key]))}"`)
    .join(',');
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

function linesOf({ name, help, bounds, series }: Family): string[] {
  const lines = [`# HELP ${name} ${help}\n`, `# TYPE ${name} ${bounds ? 'histogram' : 'counter'}\n`];
  for (const [labels, { buckets, sum }] of series) {
    const given = labels === '' ? '' : `{${labels}}`;
    if (!bounds) {
      lines.push(`${name}${given} ${sum}\n`);
      continue;
    }
    let count = 0;
    for (const [index, bound] of [...bounds, '+Inf'].entries()) {
      count += buckets[index]!;
      lines.push(`${name}_bucket{${labels === '' ? '' : `${labels},`}le="${bound}"} ${count}\n`);
    }
    lines.push(`${name}_sum${given} ${sum}\n`, `${name}_count${given} ${count}\n`);
  }
  return lines;
}
