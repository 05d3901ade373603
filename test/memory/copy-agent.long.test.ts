/** The fixtures that the quick tests leave out. */
import { describeCopiedFixtures, FIXTURE_NAMES } from './copy-agent-contract.js';
import { QUICK_FIXTURES } from './copy-agent-quick.js';

describeCopiedFixtures(FIXTURE_NAMES.filter((name) => !QUICK_FIXTURES.includes(name)));
