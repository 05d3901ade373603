/** A server, and a service beside it that saves checkpoints as another process would. */
import { onTestFinished as afterThisTest } from 'vitest';
import type { CheckpointServiceOptions } from '../../src/checkpoints/checkpoint-params.js';
import { CheckpointService } from '../../src/checkpoints/checkpoint-service.js';
import type { SaveParams } from '../../src/checkpoints/save-params.js';
import { ManualClock } from '../../src/core/clock.js';
import { type KitOptions, type ServerKit, serverKit } from './server-kit.js';

const START = Date.parse('2026-02-01T00:00:00Z');
const DAY_MS = 86_400_000;

/** When so many saves are done: each is a day later than the one before. */
export function dayOf(saves: number): string {
  return new Date(START + saves * DAY_MS).toISOString();
}

export interface CheckpointWorld {
  readonly kit: ServerKit;
  readonly service: CheckpointService;
  /** The id. */
  save(params: SaveParams): Promise<string>;
}

/** Closed after the test, or when `onTestFinished` says. */
export async function checkpointWorld(
  options: CheckpointServiceOptions = {},
  { onTestFinished = afterThisTest }: KitOptions = {},
): Promise<CheckpointWorld> {
  const kit = await serverKit({}, { onTestFinished });
  const clock = new ManualClock(START);
  const service = new CheckpointService({ clock, ...options, backend: kit.backend });
  onTestFinished(() => service.close());
  const save = async (params: SaveParams) => {
    const { checkpointId } = await service.save(params);
    clock.advance(DAY_MS);
    return checkpointId;
  };
  return { kit, service, save };
}
