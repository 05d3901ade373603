/** A disk that changes bytes under a process that runs: every save that is acknowledged can be loaded by another process. */
import fs from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.js';
import { masterKeyOf } from '../../src/storage/sealing/master-keys.js';
import { bigContext, errorOf, Place } from './checkpoint-kit.js';

const key = masterKeyOf(Buffer.alloc(32, 7));
const masterKeys = {
  place: 'the test',
  current: async () => key,
  find: async (id: string) => (id === key.id ? key : null),
  renew: () => null,
  forgetOld: async () => {},
};
const KINDS = [
  ['plain', {}],
  ['encrypted', { masterKeys, config: { encryption: { enabled: true } } }],
] as const;

async function flip(file: string, at = 0.5): Promise<void> {
  const bytes = await fs.readFile(file);
  const index = Math.floor(bytes.length * at);
  bytes[index] = bytes[index]! ^ 1;
  await fs.writeFile(file, bytes);
}

const variant = (n: number): JsonObject => ({ ...bigContext(1, 20), n });

describe.each(KINDS)('in a %s session, after one bit of a stored pack has changed,', (_, options) => {
  it('later saves can be loaded by a new process, also when nobody has met the damage', async () => {
    const place = await Place.make();
    const service = place.service(options);
    await service.save({ sessionId: 's', context: variant(0) });
    await flip((await place.packs('s'))[0]!);
    for (let n = 1; n <= 3; n += 1) {
      const { status, checkpointId } = await service.save({ sessionId: 's', context: variant(n) });
      expect(status).toBe('SAVED');
      const { context } = await place.service(options).load({ checkpointId });
      expect(context).toEqual(variant(n));
    }
    expect(await errorOf(place.service(options).load({ checkpointId: 's@1' }))).toMatchObject({
      code: 'CHECKPOINT_DAMAGED',
    });
  });

  it('the same context is saved again', async () => {
    const place = await Place.make();
    const service = place.service(options);
    await service.save({ sessionId: 's', context: variant(0) });
    await flip((await place.packs('s'))[0]!);
    const again = await service.save({ sessionId: 's', context: variant(0) });
    expect(again).toMatchObject({ status: 'SAVED', checkpointId: 's@2' });
    expect((await place.service(options).load({ sessionId: 's' })).context).toEqual(variant(0));
    expect(await service.save({ sessionId: 's', context: variant(0) })).toMatchObject({
      status: 'SKIPPED_UNCHANGED',
    });
  });

  it('a pack that is gone is not built on either', async () => {
    const place = await Place.make();
    const service = place.service(options);
    await service.save({ sessionId: 's', context: variant(0) });
    await fs.rm((await place.packs('s'))[0]!);
    const { checkpointId } = await service.save({ sessionId: 's', context: variant(1) });
    expect((await place.service(options).load({ checkpointId })).context).toEqual(variant(1));
  });
});

describe.each(KINDS)('in a %s session, after one bit of a record has changed,', (_, options) => {
  it.each([0.1, 0.5, 0.9])('later saves can be loaded by a new process: at %d of the journal', async (at) => {
    const place = await Place.make();
    const service = place.service(options);
    for (let n = 0; n < 3; n += 1) await service.save({ sessionId: 's', context: variant(n) });
    await flip(place.journalFile('s'), at);
    for (const context of [variant(2), variant(3)]) {
      const { checkpointId } = await service.save({ sessionId: 's', context });
      expect((await place.service(options).load({ checkpointId })).context).toEqual(context);
    }
  });
});

it('after one bit of the data key has changed nothing more is saved with it', async () => {
  const [, [, options]] = KINDS;
  const place = await Place.make();
  const service = place.service(options);
  await service.save({ sessionId: 's', context: variant(0) });
  const file = place.ofSession('s', 'keys.json');
  const text = await fs.readFile(file, 'utf8');
  await fs.writeFile(
    file,
    text.replace(/("wrapped":\s*")(.)/, (_, start, one) => start + (one === 'A' ? 'B' : 'A')),
  );
  expect((await errorOf(service.save({ sessionId: 's', context: variant(1) }))).code).toBe('KEY_UNAVAILABLE');
  await fs.writeFile(file, text);
  expect((await service.save({ sessionId: 's', context: variant(1) })).status).toBe('SAVED');
});
