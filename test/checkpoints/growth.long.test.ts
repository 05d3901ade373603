import { expect, it } from 'vitest';
import { bigContext, child, linesOf, Place } from './checkpoint-kit.js';

it('What a process that is new adds to 1 MB of context takes about what it changed', async () => {
  const place = await Place.make();
  const context = bigContext(3, 1_000);
  const service = place.service();
  await service.save({ sessionId: 's', context });
  const script = `
    const service = new CheckpointService({ backend: new FileStorage(root) });
    const { context } = await service.load({ sessionId: 's' });
    context.messages.push('more');
    say((await service.save({ sessionId: 's', context })).metadata.storedBytes);
    await service.close();`;
  const [stored] = await linesOf(child(place.root, script));
  expect(stored).toBeLessThan(20_000);
  context.messages.push('more');
  expect((await service.load({ sessionId: 's' })).context).toEqual(context);
});
