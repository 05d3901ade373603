/**
 * `rekindle repair-history`: writes a repaired copy of a transcript. The transcript itself is never changed.
 */
import path from 'node:path';
import type { Command } from 'commander';
import { isTime } from '../memory/importing/transcript-traces.js';
import { EXPORTERS } from '../messages/exporters/exporters.js';
import { contextOf, type OpenTranscript, openTranscript } from '../messages/importers/read-transcript.js';
import type { TranscriptItem } from '../messages/importers/transcript.js';
import { repairHistory } from '../messages/legality/history.js';
import type { Message } from '../messages/message.js';
import { type CommonOptions, runCommand, withCommonOptions } from './command-context.js';
import { exporterFor, FORMATS_TEXT } from './export-command.js';
import { openFileSource } from './file-source.js';
import { writeNewFile } from './new-file.js';
import { count } from './report-text.js';
import { refusalsOf } from './request-refusals.js';
import { excerpt } from './safe-text.js';
import { describeLosses, describeRefusal, describeRepair } from './transcript-text.js';

interface RepairHistoryOptions extends CommonOptions {
  readonly format?: string;
  readonly out?: string;
}

export function addRepairHistoryCommand(program: Command): void {
  withCommonOptions(
    program
      .command('repair-history <file>')
      .description(
        'write a copy of a transcript that every provider accepts (the file itself does not change)',
      )
      .option('-f, --format <format>', `${FORMATS_TEXT} (default: the format of the file, else rekindle)`)
      .option('-o, --out <file>', 'a new file (default: next to the file, with `.repaired` in its name)'),
  ).action((file: string, options: RepairHistoryOptions) =>
    runCommand(options, async ({ print }) => {
      const opened = await openFileSource(file);
      try {
        const transcript = await openTranscript(opened.source);
        const exporter = exporterFor(options.format ?? sameFormat(transcript.format));
        const { context, start } = await readWhole(transcript);
        const { messages, repairs } = repairHistory(context);
        const losses = transcript.losses();
        const { target, refused } = await refusalsOf(transcript.format, opened.source);
        const out = options.out ?? outFor(file, exporter.extension);
        await writeNewFile(
          out,
          exporter.write(messages, { agentId: path.parse(path.resolve(file)).name, ...start }),
        );
        const mended = [
          ...repairs.map(describeRepair),
          ...refused.map((item) => describeRefusal(target ?? '', item)),
        ];
        print(
          [
            `Written to ${excerpt(out, 200)}: ${count(messages.length, 'message')}, ${count(mended.length, 'problem')} fixed.`,
            ...mended.map((line) => `  ${line}`),
            ...describeLosses(losses),
          ],
          { file: out, format: exporter.format, messages: messages.length, repairs, target, refused, losses },
        );
        return undefined;
      } finally {
        await opened.close();
      }
    }),
  );
}

function sameFormat(format: string): string {
  return EXPORTERS.some((exporter) => exporter.format === format) ? format : 'rekindle';
}

/** The context, and the first time in the transcript, for formats with times. */
async function readWhole(
  transcript: OpenTranscript,
): Promise<{ readonly context: Message[]; readonly start: { readonly startedAtMs?: number } }> {
  let first: number | undefined;
  async function* items(): AsyncGenerator<TranscriptItem> {
    for await (const item of transcript.items()) {
      if (first === undefined && isTime(item.ts)) first = item.ts;
      yield item;
    }
  }
  const context = await contextOf({ ...transcript, items });
  return { context, start: first === undefined ? {} : { startedAtMs: Math.round(first * 1000) } };
}

/** Next to the file. A folder given as `.` has a name, too. */
function outFor(file: string, extension: string): string {
  const whole = path.resolve(file);
  const named = path.basename(file) === path.basename(whole) ? file : whole;
  return path.join(path.dirname(named), `${path.parse(whole).name}.repaired${extension}`);
}
