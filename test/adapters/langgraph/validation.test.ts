/** LangGraph's own suite for checkpoint savers, on every store. */
import { deltaChannelHistoryTests, validate } from '@langchain/langgraph-checkpoint-validation';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RekindleSaver } from '../../../src/adapters/langgraph/index.js';
import { type OpenedTarget, TARGETS } from '../targets.js';

// The suite takes them from the global object.
Object.assign(globalThis, { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it });

for (const target of TARGETS) {
  const opened = new Map<RekindleSaver, OpenedTarget>();
  const initializer = {
    checkpointerName: `RekindleSaver on ${target.name}`,
    createCheckpointer: async () => {
      const open = await target.open();
      const saver = new RekindleSaver({ storage: open.storage });
      opened.set(saver, open);
      return saver;
    },
    destroyCheckpointer: async (saver: RekindleSaver) => {
      await saver.close();
      await opened.get(saver)?.destroy();
      opened.delete(saver);
    },
  };
  validate(initializer);
  describe('delta channels', () => deltaChannelHistoryTests(initializer));
}
