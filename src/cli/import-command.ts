/** `rekindle import`: makes an agent from a transcript of another tool. */
import type { Command } from 'commander';
import { type ImportReport, importTranscript } from '../memory/importing/import-transcript.js';
import { type CommonOptions, runCommand, withCommonOptions } from './command-context.js';
import { EXIT } from './exit-codes.js';
import { openFileSource } from './file-source.js';
import { startBar } from './progress.js';
import { count } from './report-text.js';
import { excerpt } from './safe-text.js';
import { describeLosses } from './transcript-text.js';

interface ImportCommandOptions extends CommonOptions {
  readonly agent: string;
}

export function addImportCommand(program: Command): void {
  withCommonOptions(
    program
      .command('import <file>')
      .description(
        'make an agent from a transcript: Claude Code, Codex, Gemini CLI, OpenAI chat, LangGraph, ... (recognised by content)',
      )
      .requiredOption('-a, --agent <id>', 'the new agent'),
  ).action((file: string, options: ImportCommandOptions) =>
    runCommand(options, async ({ storage, json, print }) => {
      let read = 0;
      let onRead = (): void => {};
      const opened = await openFileSource(file, (bytes) => {
        read += bytes;
        onRead();
      });
      const bar = startBar('Importing', opened.source.size, !json);
      onRead = () => bar.set(read % (opened.source.size + 1)); // some formats are read twice
      try {
        const report = await importTranscript(storage, options.agent, opened.source);
        bar.end();
        print(describe(report, file), report);
        return report.traces === 0 ? EXIT.problem : EXIT.ok;
      } finally {
        bar.end();
        await opened.close();
      }
    }),
  );
}

function describe(report: ImportReport, file: string): string[] {
  const head = `${excerpt(file, 80)}: ${report.title}.`;
  if (report.traces === 0)
    return [`${head} It has no messages, so no agent was made.`, ...describeLosses(report.losses)];
  const { messages, turns, traces, artifacts, replayed, openCalls } = report;
  const stored = artifacts === 0 ? '' : ` and ${count(artifacts, 'artifact')}`;
  const whose = `of the agent ${excerpt(report.agentId, 60)}`;
  const notes = [
    replayed === 0 ? null : `${count(replayed, 'message')} had a repeated id and were written once.`,
    openCalls === 0
      ? null
      : `${count(openCalls, 'call')} without a result; the first restore will mark the outcome as unknown.`,
  ];
  return [
    `${head} ${count(messages, 'message')} in ${count(turns, 'turn')} became ${count(traces, 'trace')}${stored} ${whose}.`,
    ...notes.filter((note) => note !== null),
    ...describeLosses(report.losses),
  ];
}
