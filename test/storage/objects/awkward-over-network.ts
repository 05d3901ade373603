import { AWKWARD_NAMES } from '../../../src/storage/testing/awkward-samples.js';

const CHOSEN =
  /^(?:Agent-A|agent-a|a:b|a\*b\?|~|%|%2e%2e%2fx|%41|\.hidden|caf.*|.*\u{1f469}.*|a b|-0|y{180})$/u;

/** Those that URLs and servers may get wrong: each costs some requests. */
export const AWKWARD_OVER_NETWORK: readonly string[] = AWKWARD_NAMES.filter((name) => CHOSEN.test(name));
