/** `rekindle scan`: where a store, or a file, holds credentials or personal data. It names kinds and places, never what it found. */
import { isUtf8 } from 'node:buffer';
import type { Command } from 'commander';
import { type JsonObject, type JsonValue, tryParseJson } from '../core/json.js';
import { Redactor } from '../core/redaction/redactor.js';
import type { StorageBackend } from '../storage/ports.js';
import { type CommonOptions, runCommand, withCommonOptions } from './command-context.js';
import { EXIT } from './exit-codes.js';
import { readGiven } from './given-file.js';
import { startProgress } from './progress.js';
import { count } from './report-text.js';

interface ScanOptions extends CommonOptions {
  readonly personal?: boolean;
}

/** Something to look at, with a name for people. */
type Place = readonly [place: string, value: JsonValue];

interface Hit {
  readonly place: string;
  readonly kinds: Readonly<Record<string, number>>;
}

/** Lines for people; `--json` has all. */
const SHOWN_MAX = 100;

export function addScanCommand(program: Command): void {
  withCommonOptions(
    program
      .command('scan [file]')
      .description('find credentials in a store, or in a transcript (changes nothing)')
      .option('--personal', 'also personal data: mail, phone, card, IBAN, network address'),
  ).action((file: string | undefined, options: ScanOptions) =>
    runCommand(options, async ({ storage, json, print }) => {
      const redactor = new Redactor({ personal: options.personal ?? false });
      const progress = startProgress('Reading', !json);
      const hits: Hit[] = [];
      let looked = 0;
      try {
        for await (const [place, value] of file === undefined ? placesOf(storage) : linesOf(file)) {
          looked += 1;
          if (looked % 1_000 === 0) progress.say(count(looked, 'record'));
          const kinds = redactor.count(value);
          if (Object.keys(kinds).length > 0) hits.push({ place, kinds });
        }
      } finally {
        progress.end();
      }
      print([...shown(hits), ...summary(hits, looked, file)], { looked, hits });
      return hits.length > 0 ? EXIT.problem : EXIT.ok;
    }),
  );
}

function shown(hits: readonly Hit[]): string[] {
  const lines = hits.slice(0, SHOWN_MAX).map(({ place, kinds }) => {
    const found = Object.entries(kinds).map(([kind, times]) => (times === 1 ? kind : `${kind} x ${times}`));
    return `${place}: ${found.join(', ')}`;
  });
  return hits.length > SHOWN_MAX ? [...lines, `... and ${hits.length - SHOWN_MAX} more; see --json.`] : lines;
}

function summary(hits: readonly Hit[], looked: number, file: string | undefined): string[] {
  const read = count(looked, file === undefined ? 'record' : 'line');
  if (hits.length === 0) return [`Nothing found in ${read}.`];
  const found = `Found in ${hits.length} of ${read}.`;
  if (file !== undefined) return [found];
  return [
    found,
    'Revoke what you find. To remove an agent with its copies: rekindle erase ID.',
    "To keep such data out from now on: --dir 'file:FOLDER?redact=credentials'.",
  ];
}

/** A line of JSON is read as JSON, so that names of members count. */
async function* linesOf(file: string): AsyncGenerator<Place> {
  const text = new TextDecoder().decode(await readGiven(file));
  const whole = tryParseJson(text);
  if (whole !== undefined) return yield [file, whole];
  for (const [index, line] of text.split('\n').entries())
    if (line !== '') yield [`${file}:${index + 1}`, tryParseJson(line) ?? line];
}

/** Every record, document and text of a store. */
async function* placesOf(storage: StorageBackend): AsyncGenerator<Place> {
  for await (const { kind, name } of storage.contents([])) {
    const place = name.join('/');
    if (kind === 'document') yield* textOf(place, await storage.documents.readBytes(name));
    if (kind === 'blobs')
      for await (const { digest } of storage.blobs(name).list())
        yield* textOf(`${place}/${digest.slice(0, 12)}`, await storage.blobs(name).get(digest));
    if (kind !== 'journal') continue;
    const journal = await storage.openJournal<JsonObject>(name, { readOnly: true });
    try {
      for await (const entry of journal.read({ archived: true }))
        if (entry.kind === 'record') yield [`${place}#${entry.seq}`, entry.record];
    } finally {
      await journal.close();
    }
  }
}

function* textOf(place: string, bytes: Uint8Array | null): Generator<Place> {
  if (!bytes || !isUtf8(bytes)) return;
  const text = new TextDecoder().decode(bytes);
  yield [place, tryParseJson(text) ?? text];
}
