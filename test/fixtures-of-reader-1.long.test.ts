/** Folders as releases wrote them whose traces had no header yet. They restore as they did then. */
import { fileURLToPath } from 'node:url';
import { checkFixtures } from './fixture-checks.js';

await checkFixtures(fileURLToPath(new URL('../fixtures/memory-reader-1', import.meta.url)));
