import { AWKWARD_NAMES, REFUSED_NAMES } from '../../src/storage/testing/awkward-samples.js';
import { describeSessionNames } from './session-names-kit.js';

/** The others have their turn in the long run. */
const some = (names: readonly string[]) => names.filter((_, index) => index % 4 === 0);

describeSessionNames({ possible: some(AWKWARD_NAMES), refused: some(REFUSED_NAMES) });
