/**
 * `rekindle check`: lists what a provider would refuse in a transcript of any known format. Exit code 1 if
 * there is anything.
 */
import type { Command } from 'commander';
import { contextOf, openTranscript } from '../messages/importers/read-transcript.js';
import type { TranscriptSource } from '../messages/importers/transcript.js';
import { checkHistory } from '../messages/legality/history.js';
import { type CommonOptions, runCommand, withCommonOptions } from './command-context.js';
import { EXIT } from './exit-codes.js';
import { openFileSource } from './file-source.js';
import { count } from './report-text.js';
import { refusalsOf } from './request-refusals.js';
import { excerpt } from './safe-text.js';
import { describeNotKept, describeRefusal, describeViolation } from './transcript-text.js';

/** Limit for people; `--json` lists all. */
const LINES_MAX = 50;

export function addCheckCommand(program: Command): void {
  withCommonOptions(
    program
      .command('check <file>')
      .description(
        'list what a provider would refuse in a transcript (changes nothing; exit code 1 if there is anything)',
      )
      .option('--explain', 'show how the format was recognised'),
  ).action((file: string, options: CheckOptions) =>
    runCommand(options, async ({ print }) => {
      const opened = await openFileSource(file);
      try {
        const found = await check(opened.source);
        print(describe(found, file, options.explain === true), found);
        return found.violations.length + found.refused.length > 0 ? EXIT.problem : EXIT.ok;
      } finally {
        await opened.close();
      }
    }),
  );
}

interface CheckOptions extends CommonOptions {
  readonly explain?: boolean;
}

type Checked = Awaited<ReturnType<typeof check>>;

async function check(source: TranscriptSource) {
  const transcript = await openTranscript(source);
  const messages = await contextOf(transcript);
  const { format, title, reasons } = transcript;
  const { target, refused } = await refusalsOf(format, source);
  return {
    format,
    title,
    reasons,
    messages: messages.length,
    violations: checkHistory(messages),
    target,
    refused,
    losses: transcript.losses(),
  };
}

function describe(found: Checked, file: string, explain: boolean): string[] {
  const problems = [
    ...found.violations.map(describeViolation),
    ...found.refused.map((refused) => describeRefusal(found.target ?? '', refused)),
  ];
  const head = `${excerpt(file, 80)}: ${found.title}, ${count(found.messages, 'message')} in the context.`;
  const why = explain
    ? ['Read in this format because:', ...found.reasons.map((reason) => `  ${excerpt(reason, 200)}`)]
    : [];
  const notKept = [...describeNotKept(found.losses), ...why];
  if (problems.length === 0) return [head, 'No provider would refuse it.', ...notKept];
  const shown = problems.slice(0, LINES_MAX);
  const rest =
    problems.length > shown.length
      ? [`... and ${count(problems.length - shown.length, 'problem')} more (--json has all).`]
      : [];
  return [
    head,
    `${count(problems.length, 'problem')}:`,
    ...shown.map((line) => `  ${line}`),
    ...rest,
    ...notKept,
  ];
}
