/** The documents that tools were given. A model reaches these and no others. */
import { RekindleError } from '../../../core/errors.js';
import type { JsonValue } from '../../../core/json.js';
import type { PatchOptions } from '../change-options.js';
import type { StateSchema } from '../state-definition.js';
import type { StateSnapshot } from '../state-snapshot.js';

/** What tools use of a `StateManager`, whatever the type of its document. */
export interface MountedState {
  readonly schema: StateSchema;
  load(): Promise<StateSnapshot<unknown>>;
  patch(patch: JsonValue, options?: PatchOptions): Promise<StateSnapshot<unknown>>;
}

/** Open documents, by the name that the model uses for them. Their owner closes them. */
export type StateDocuments = Readonly<Record<string, MountedState>>;

/** @throws STATE_NOT_FOUND, which lists the documents that were mounted */
export function mountedState(documents: StateDocuments, name: string): MountedState {
  const mounted = Object.hasOwn(documents, name) ? documents[name] : undefined;
  if (mounted) return mounted;
  const known = Object.keys(documents);
  throw new RekindleError(
    'STATE_NOT_FOUND',
    `There is no document ${JSON.stringify(name)} for you. There are: ${known.join(', ')}.`,
    { details: { name, known }, advice: 'Use one of the names in `details.known`.' },
  );
}

/** @throws INVALID_ARGUMENT for an empty set, and for something that is not a `StateManager` */
export function assertDocuments(documents: StateDocuments): void {
  const names = Object.keys(documents ?? {});
  const wrong = names.find((name) => name === '' || typeof documents[name]?.patch !== 'function');
  if (names.length > 0 && wrong === undefined) return;
  const problem =
    wrong === undefined ? 'no document was given' : `${JSON.stringify(wrong)} is not an open StateManager`;
  throw new RekindleError('INVALID_ARGUMENT', `The documents cannot be mounted: ${problem}.`, {
    details: { argument: 'documents', problem },
  });
}
