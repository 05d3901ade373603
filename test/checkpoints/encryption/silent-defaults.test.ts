/** What happens to encryption when a program does not say everything. */
import { describe, expect, it } from 'vitest';
import { masterKeyOf } from '../../../src/storage/sealing/master-keys.js';
import { errorOf, Place } from '../checkpoint-kit.js';

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

describe('encryption that nobody speaks of', () => {
  it('is that of the store: a program that stops asking for it gets no plain sessions, unless it says so', async () => {
    const place = await Place.make();
    const [, [, options]] = KINDS;
    await place.service(options).save({ sessionId: 's', context: { n: 1 } });
    const { metadata } = await place.service({ masterKeys }).save({ sessionId: 'new', context: { n: 1 } });
    expect(metadata.encrypted).toBe(true);
    const plain = place.service({ masterKeys, config: { encryption: { enabled: false } } });
    expect((await plain.save({ sessionId: 'plain', context: { n: 1 } })).metadata.encrypted).toBe(false);
  });

  it('takes the key in the environment without a provider, and still reads what a key of the file wraps', async () => {
    const place = await Place.make();
    const environment = { REKINDLE_KEY_FILE: place.file('..', 'keys.json') };
    const config = { encryption: { enabled: true } };
    await place.service({ config, environment }).save({ sessionId: 'file', context: { n: 1 } });
    const both = { ...environment, REKINDLE_MASTER_KEY: Buffer.alloc(32, 9).toString('base64') };
    const service = place.service({ config, environment: both });
    await service.save({ sessionId: 'environment', context: { n: 2 } });
    expect((await service.load({ sessionId: 'file' })).context).toEqual({ n: 1 });
    const lost = place.service({ config, environment });
    expect((await errorOf(lost.load({ sessionId: 'environment' }))).code).toBe('KEY_UNAVAILABLE');
  });
});
