/** `rekindle export`: the working context of an agent in another tool's format. Changes nothing. */
import type { Command } from 'commander';
import { artifactsOf } from '../agent/model/artifacts.js';
import { RekindleError } from '../core/errors.js';
import { restoreDry } from '../memory/maintenance/restore-dry.js';
import { EXPORTERS } from '../messages/exporters/exporters.js';
import type { TranscriptExporter } from '../messages/exporters/transcript-exporter.js';
import { recordCommand } from './audit-trail.js';
import { type CommonOptions, runCommand, withCommonOptions } from './command-context.js';
import { writeNewFile } from './new-file.js';
import { excerpt, safeText } from './safe-text.js';

interface ExportCommandOptions extends CommonOptions {
  readonly format: string;
  readonly out?: string;
}

export const FORMATS_TEXT = EXPORTERS.map(({ format }) => format).join(', ');

export function addExportCommand(program: Command): void {
  withCommonOptions(
    program
      .command('export <agent>')
      .description('write the working context in the format of another tool (changes nothing)')
      .requiredOption('-f, --format <format>', FORMATS_TEXT)
      .option('-o, --out <file>', 'a new file (default: standard output)'),
  ).action((agentId: string, options: ExportCommandOptions) =>
    runCommand(options, async ({ storage, json, print }) => {
      const exporter = exporterFor(options.format);
      await recordCommand(storage, {
        action: 'export',
        target: `agent ${agentId}`,
        what: `export ${exporter.format}`,
      });
      const { messages, startedAtMs, artifacts } = await restoreDry(
        storage,
        agentId,
        async (memory, list) => ({
          messages: list,
          startedAtMs: await startOf(memory),
          artifacts: await artifactsOf(list, (ref) => memory.getArtifact(ref)),
        }),
      );
      const pieces = exporter.write(messages, {
        agentId,
        artifacts,
        ...(startedAtMs === null ? {} : { startedAtMs }),
      });
      if (options.out !== undefined) {
        await writeNewFile(options.out, pieces);
        print([`Written to ${excerpt(options.out, 200)}.`], {
          file: options.out,
          format: exporter.format,
          messages: messages.length,
        });
      } else if (json) print([], { format: exporter.format, text: [...pieces].join('') });
      else for (const piece of pieces) process.stdout.write(process.stdout.isTTY ? safeText(piece) : piece);
      return undefined;
    }),
  );
}

/** @throws INVALID_ARGUMENT, naming the formats */
export function exporterFor(format: string): TranscriptExporter {
  const exporter = EXPORTERS.find((candidate) => candidate.format === format);
  if (exporter) return exporter;
  throw new RekindleError(
    'INVALID_ARGUMENT',
    `Unknown format ${JSON.stringify(format)}. Choose one of ${FORMATS_TEXT}.`,
    {
      details: {
        argument: '--format',
        given: format,
        formats: EXPORTERS.map((candidate) => candidate.format),
      },
    },
  );
}

/** The time of the first trace that is still in the journal. */
async function startOf(memory: Parameters<Parameters<typeof restoreDry>[2]>[0]): Promise<number | null> {
  for await (const entry of (await memory.store.journal('raw_traces')).read({ limit: 1 })) {
    const ts = entry.kind === 'record' ? entry.record['ts'] : undefined;
    return typeof ts === 'number' ? Math.round(ts * 1000) : null;
  }
  return null;
}
