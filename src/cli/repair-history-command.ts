/** `rekindle repair-history`: a repaired copy of a transcript. The transcript itself is never changed. */
import path from 'node:path';
import type { Command } from 'commander';
import { EXPORTERS } from '../messages/exporters/exporters.js';
import { contextOf, openTranscript } from '../messages/importers/read-transcript.js';
import { repairHistory } from '../messages/legality/history.js';
import { type CommonOptions, runCommand, withCommonOptions } from './command-context.js';
import { exporterFor, FORMATS_TEXT } from './export-command.js';
import { openFileSource } from './file-source.js';
import { writeNewFile } from './new-file.js';
import { count } from './report-text.js';
import { excerpt } from './safe-text.js';
import { describeLosses, describeRepair } from './transcript-text.js';

interface RepairHistoryOptions extends CommonOptions {
  readonly format?: string;
  readonly out?: string;
}

export function addRepairHistoryCommand(program: Command): void {
  withCommonOptions(
    program
      .command('repair-history <file>')
      .description('write a copy of a transcript that every provider accepts (the file itself stays)')
      .option('-f, --format <format>', `${FORMATS_TEXT} (default: that of the file, else rekindle)`)
      .option('-o, --out <file>', 'a new file (default: beside the file, with `.repaired` in its name)'),
  ).action((file: string, options: RepairHistoryOptions) =>
    runCommand(options, async ({ print }) => {
      const opened = await openFileSource(file);
      try {
        const transcript = await openTranscript(opened.source);
        const exporter = exporterFor(options.format ?? sameFormat(transcript.format));
        const { messages, repairs } = repairHistory(await contextOf(transcript));
        const out = options.out ?? outFor(file, exporter.extension);
        await writeNewFile(out, exporter.write(messages, { agentId: path.parse(file).name }));
        const losses = transcript.losses();
        print(
          [
            `${excerpt(out, 200)} is written: ${count(messages.length, 'message')}, ${count(repairs.length, 'repair')}.`,
            ...repairs.map((repair) => `  ${describeRepair(repair)}`),
            ...describeLosses(losses),
          ],
          { file: out, format: exporter.format, messages: messages.length, repairs, losses },
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

function outFor(file: string, extension: string): string {
  const { dir, name } = path.parse(file);
  return path.join(dir, `${name}.repaired${extension}`);
}
