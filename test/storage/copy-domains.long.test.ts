import { describeDomains } from './copy-domains-contract.js';
import { FILE, MEMORY, SMALL_FILE, SQLITE, TARGETS } from './copy-kit.js';

const POSTGRES = TARGETS.filter(({ name }) => name === 'PostgreSQL');

describeDomains([
  [SMALL_FILE, FILE],
  [FILE, SMALL_FILE],
  [MEMORY, FILE],
  [FILE, MEMORY],
  ...POSTGRES.flatMap((postgres) => [
    [FILE, postgres] as const,
    [postgres, SQLITE] as const,
    [SQLITE, postgres] as const,
  ]),
]);
