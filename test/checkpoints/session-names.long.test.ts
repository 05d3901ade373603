import { AWKWARD_NAMES, REFUSED_NAMES } from '../../src/storage/testing/awkward-samples.js';
import { describeSessionNames } from './session-names-kit.js';

describeSessionNames({ possible: AWKWARD_NAMES, refused: REFUSED_NAMES });
