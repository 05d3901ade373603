import { describeDomains } from './copy-domains-contract.js';
import { FILE, SMALL_FILE, SQLITE } from './copy-kit.js';

describeDomains([
  [SMALL_FILE, SQLITE],
  [SQLITE, FILE],
]);
