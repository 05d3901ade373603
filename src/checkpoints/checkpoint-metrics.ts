/** Checkpoint operations as OpenTelemetry metrics. The host gives the meter, so that this package needs no other. */
import type { Meter } from '../core/telemetry.js';
import type { CheckpointOperation } from './operation-times.js';

/**
 * A listener for `onOperation`. Metrics: `rekindle.checkpoint.operation.duration` (histogram, seconds; attributes `operation` and, if it
 * failed, `error.type`) and `rekindle.checkpoint.operation.slow` (counter; attribute `operation`).
 *
 *     const onOperation = checkpointMetrics(metrics.getMeter('rekindle'));
 *     const checkpoints = new CheckpointService({ onOperation });
 */
export function checkpointMetrics(meter: Meter): (operation: CheckpointOperation) => void {
  const duration = meter.createHistogram('rekindle.checkpoint.operation.duration', {
    description: 'Duration of checkpoint operations',
    unit: 's',
  });
  const slow = meter.createCounter('rekindle.checkpoint.operation.slow', {
    description: 'Checkpoint operations that took longer than their target',
    unit: '{operation}',
  });
  return ({ operation, ms, code, isSlow }) => {
    duration.record(ms / 1_000, { operation, ...(code === null ? {} : { 'error.type': code }) });
    if (isSlow) slow.add(1, { operation });
  };
}
