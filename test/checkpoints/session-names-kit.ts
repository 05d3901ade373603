/** What sessions may be called, and may not. */
import fs from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { CheckpointService } from '../../src/checkpoints/checkpoint-service.js';
import { errorOf, Place } from './checkpoint-kit.js';

export interface SessionNames {
  readonly possible: readonly string[];
  readonly refused: readonly string[];
}

export function describeSessionNames({ possible, refused }: SessionNames): void {
  describe('a session', () => {
    let shared: Promise<CheckpointService> | null = null;
    /** One store for all names. */
    const inOneStore = () => {
      shared ??= Place.make().then((place) => place.service());
      return shared;
    };

    it.each(possible.map((name) => [name]))('may be called %j', async (sessionId) => {
      const service = await inOneStore();
      const { checkpointId } = await service.save({ sessionId, context: { sessionId } });
      expect((await service.load({ checkpointId })).context).toEqual({ sessionId });
      expect((await service.load({ sessionId })).metadata).toMatchObject({ sessionId, number: 1 });
    });

    it('is another one for each of those names', async () => {
      const service = await inOneStore();
      expect(new Set((await service.sessions()).map(({ id }) => id))).toEqual(new Set(possible));
    });

    it.each(refused.map((name) => [name]))('may not be called %j, and nothing is written', async (name) => {
      const place = await Place.make();
      const service = place.service();
      const errors = [
        await errorOf(service.save({ sessionId: name, context: {} })),
        await errorOf(service.load({ sessionId: name })),
        await errorOf(service.list({ sessionId: name })),
        await errorOf(service.markCritical({ sessionId: name, contextKey: 'a' })),
      ];
      for (const { code } of errors) expect(['INVALID_NAME', 'INVALID_ARGUMENT']).toContain(code);
      const { code } = await errorOf(service.load({ checkpointId: `${name}@1` }));
      expect(['INVALID_NAME', 'CHECKPOINT_NOT_FOUND']).toContain(code);
      expect(await fs.readdir(place.root)).toEqual([]);
    });
  });
}
