/**
 * Transcript formats that programs add. The list is per process: reading starts in many places (`openTranscript`,
 * `importTranscript`, the commands), and a format has to be known in all of them. A program that wants a list of its own
 * passes it to `openTranscript`.
 */
import { RekindleError } from '../../core/errors.js';
import { IMPORTERS } from './importers.js';
import type { TranscriptImporter } from './transcript.js';

const registered: TranscriptImporter[] = [];
const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/**
 * Adds a transcript format for this process. Registered formats are tried before the built-in ones, in the order of their
 * registration, by their `recognises` alone.
 * ```ts
 * const remove = registerTranscriptFormat(myImporter);
 * ```
 * @returns a function that removes the format again; further calls do nothing
 * @throws INVALID_ARGUMENT if the name is taken, or if the importer is incomplete
 */
export function registerTranscriptFormat(importer: TranscriptImporter): () => void {
  assertComplete(importer);
  const { format } = importer;
  if (knownImporters().some((known) => known.format === format))
    throw refused(`A transcript format named ${JSON.stringify(format)} already exists.`, 'format');
  registered.push(importer);
  return () => {
    const at = registered.indexOf(importer);
    if (at >= 0) registered.splice(at, 1);
  };
}

/** The registered formats, then the built-in ones. */
export function knownImporters(): readonly TranscriptImporter[] {
  return [...registered, ...IMPORTERS];
}

/** Programs in JavaScript have no types that would find this. */
function assertComplete({ format, title, lookedFor, recognises, read, entries }: TranscriptImporter): void {
  if (typeof format !== 'string' || !NAME.test(format))
    throw refused('The name of a format has lower-case letters, digits, `.`, `_` and `-`.', 'format');
  for (const [name, text] of Object.entries({ title, lookedFor }))
    if (typeof text !== 'string' || text.trim() === '')
      throw refused(`The transcript format ${format} has no ${name}.`, name);
  for (const [name, method] of Object.entries({ recognises, read }))
    if (typeof method !== 'function')
      throw refused(`The transcript format ${format} has no function ${name}.`, name);
  if (entries !== undefined)
    throw refused(
      `The transcript format ${format} has \`entries\`, which only built-in formats have.`,
      'entries',
    );
}

function refused(message: string, argument: string): RekindleError {
  return new RekindleError('INVALID_ARGUMENT', message, {
    details: { argument, known: knownImporters().map(({ format }) => format) },
  });
}
