/** `rekindle scan`: finds credentials and personal data in a store or a file. It prints kinds and places, never values. */
import { isUtf8 } from 'node:buffer';
import type { Command } from 'commander';
import { type JsonValue, tryParseJson } from '../core/json.js';
import { Redactor } from '../core/redaction/redactor.js';
import type { StorageBackend } from '../storage/ports.js';
import { type CommonOptions, runCommand, withCommonOptions } from './command-context.js';
import { EXIT } from './exit-codes.js';
import { readGiven } from './given-file.js';
import { startProgress } from './progress.js';
import { count } from './report-text.js';
import { contentsOf } from './store-contents.js';

interface ScanOptions extends CommonOptions {
  readonly personal?: boolean;
}

/** A value to search, with its place for people. */
type Place = readonly [place: string, value: JsonValue];

interface Hit {
  readonly place: string;
  readonly kinds: Readonly<Record<string, number>>;
}

/** Limit of the output for people. `--json` has all hits. */
const SHOWN_MAX = 100;

export function addScanCommand(program: Command): void {
  withCommonOptions(
    program
      .command('scan [file]')
      .description('find credentials in a store, or in a transcript (changes nothing)')
      .option('--personal', 'also personal data: mail, phone, card, IBAN, network address'),
  ).action((file: string | undefined, options: ScanOptions) =>
    runCommand(options, async ({ storage, json, print }) => {
      const kindsIn = counter(options.personal ?? false);
      const progress = startProgress('Reading', !json);
      const hits: Hit[] = [];
      let looked = 0;
      try {
        for await (const [place, value] of file === undefined ? placesOf(storage) : linesOf(file)) {
          looked += 1;
          if (looked % 1_000 === 0) progress.say(count(looked, 'record'));
          const kinds = kindsIn(value);
          if (kinds) hits.push({ place, kinds });
        }
      } finally {
        progress.end();
      }
      print([...shown(hits), ...summary(hits, looked, file)], { looked, hits });
      return hits.length > 0 ? EXIT.problem : EXIT.ok;
    }),
  );
}

/** Counts the findings in a value by kind; null if there are none. */
function counter(personal: boolean): (value: JsonValue) => Hit['kinds'] | null {
  const counts: Hit['kinds'][] = [];
  const redactor = new Redactor({ personal, onRedacted: (found) => counts.push(found) });
  return (value) => {
    redactor.json(value);
    return counts.pop() ?? null;
  };
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

/** Lines of JSON are parsed, because names of members matter. */
async function* linesOf(file: string): AsyncGenerator<Place> {
  const text = new TextDecoder().decode(await readGiven(file));
  const whole = tryParseJson(text);
  if (whole !== undefined) return yield [file, whole];
  for (const [index, line] of text.split('\n').entries())
    if (line !== '') yield [`${file}:${index + 1}`, jsonOrText(line)];
}

/** Every record of a store, and every document and artifact that is text. */
async function* placesOf(storage: StorageBackend): AsyncGenerator<Place> {
  for await (const content of contentsOf(storage)) {
    if ('record' in content) yield [content.place, content.record];
    else if (isUtf8(content.bytes))
      yield [content.place, jsonOrText(new TextDecoder().decode(content.bytes))];
  }
}

function jsonOrText(text: string): JsonValue {
  return tryParseJson(text) ?? text;
}
