/** Where a transcript is stored: names that any text of a key is safe in. */
import { RekindleError } from '../../core/errors.js';
import type { Name } from '../../storage/ports.js';
import { isDigest, nameKey, pathKey } from '../name-key.js';
import type { SessionKey } from './session-store-types.js';

/** Texts of a key that its names do not show, because they are digests. */
export interface HiddenTexts {
  readonly project?: string;
  readonly session?: string;
  readonly subpath?: string;
}

export interface TranscriptPlace {
  readonly key: SessionKey;
  /** The folder below the root, with `/`. That of a subagent is below that of its session. */
  readonly id: string;
  readonly folder: Name;
  readonly hidden: HiddenTexts;
}

const SUBPATHS = 'subpaths';

/** @throws INVALID_ARGUMENT */
export function placeOf(root: string, given: SessionKey): TranscriptPlace {
  const { projectKey, sessionId, subpath } = Object(given) as SessionKey;
  const [project, session] = [nameKey(text(projectKey, 'projectKey')), nameKey(text(sessionId, 'sessionId'))];
  const sub = subpath === undefined ? null : pathKey(text(subpath, 'subpath'));
  const segments = [project, session, ...(sub === null ? [] : [SUBPATHS, sub])];
  return {
    key: { projectKey, sessionId, ...(subpath === undefined ? {} : { subpath }) },
    id: segments.join('/'),
    folder: [root, ...segments],
    hidden: {
      ...(isDigest(project) ? { project: projectKey } : {}),
      ...(isDigest(session) ? { session: sessionId } : {}),
      ...(sub !== null && subpath !== undefined && isDigest(sub) ? { subpath } : {}),
    },
  };
}

/** The folder of an id. */
export function folderOf(root: string, id: string): Name {
  return [root, ...id.split('/')];
}

export function isOfSubagent(id: string): boolean {
  return id.split('/').length > 2;
}

/** The journal and the lease of the transcript in a folder. */
export function inFolder(folder: Name): { readonly journal: Name; readonly lease: Name } {
  return { journal: [...folder, 'transcript'], lease: [...folder, 'lease'] };
}

/** The folder that contains the sessions of a project. @throws INVALID_ARGUMENT */
export function projectFolder(root: string, projectKey: string): Name {
  return [root, nameKey(text(projectKey, 'projectKey'))];
}

/** The folder that contains the transcripts of a session's subagents. */
export function subpathsFolder(session: Name): Name {
  return [...session, SUBPATHS];
}

function text(value: unknown, argument: string): string {
  if (typeof value === 'string' && value !== '') return value;
  const problem = 'it must be a non-empty string';
  throw new RekindleError('INVALID_ARGUMENT', `${argument} is refused: ${problem}.`, {
    details: { argument, problem },
  });
}
