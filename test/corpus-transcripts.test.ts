/**
 * Every real transcript of the shared corpus, where it is there: imported, restored, checked, projected to each target, restored again
 * without a clean end, compared. Prints a table per format.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import Table from 'cli-table3';
import { afterAll, describe, expect, it } from 'vitest';
import { canonicalJson } from '../src/core/canonical-json.js';
import { isRekindleError } from '../src/core/errors.js';
import { importTranscript } from '../src/memory/importing/import-transcript.js';
import { openMemory } from '../src/memory/open-memory.js';
import { WorkingContextSnapshotBootstrapper } from '../src/memory/restore/working-context-snapshot-bootstrapper.js';
import { folderOf, sourceOf } from '../src/messages/importers/source.js';
import type { TranscriptSource } from '../src/messages/importers/transcript.js';
import { checkHistory } from '../src/messages/legality/history.js';
import type { Message } from '../src/messages/message.js';
import { messageToJson } from '../src/messages/message-serializer.js';
import { checkRequest, project } from '../src/messages/projections/project.js';
import { TARGETS } from '../src/messages/projections/targets.js';
import { MemoryStorage } from '../src/storage/memory/memory-storage.js';

const CORPUS = fileURLToPath(new URL('../../shared/corpus/', import.meta.url));
const FOLDERS = [
  ...['claude-code', 'codex-rollout', 'gemini-cli', 'pi', 'opencode', 'cline', 'cline-sdk', 'openai-chat'],
  ...['openai-agents-runstate', 'langgraph-thread', 'letta-af', 'swe-agent', 'inspect-ai'],
  ...['misc/chatgpt-export', 'misc/sharegpt', 'misc/atif'],
  ...['misc/copilot', 'misc/cursor', 'misc/droid', 'misc/amp', 'misc/continue', 'misc/kimi'],
];

/** What must be refused, or is of a kind that no importer claims, with the reason. */
const NOT_IMPORTED: Readonly<Record<string, string>> = {
  'openai-agents-runstate/py-negative-future_version.json': 'UNSUPPORTED_VERSION',
  'openai-agents-runstate/py-negative-malformed_current_agent.json': 'TRANSCRIPT_INVALID',
  'openai-agents-runstate/js-negative-pre-1.8-tool-search.json': 'TRANSCRIPT_INVALID',
  'openai-chat/MockAirlineDomainEnv-few_shot.jsonl': 'TRANSCRIPT_UNKNOWN', // conversations as display text, without their calls
  'openai-chat/tau2-voice-sim.json': 'TRANSCRIPT_UNKNOWN', // ticks of a voice simulation
};

interface Transcript {
  readonly name: string;
  readonly folder: string;
  readonly source: TranscriptSource;
}

/** Each file; a folder inside a folder is one transcript, except Cline's tasks, which hold two. */
function transcriptsIn(folder: string): Transcript[] {
  if (!existsSync(path.join(CORPUS, folder))) return [];
  return readdirSync(path.join(CORPUS, folder)).flatMap((name) => {
    const full = path.join(CORPUS, folder, name);
    if (statSync(full).isFile()) return [fileTranscript(folder, name)];
    if (folder === 'cline')
      return readdirSync(full).map((inner) => fileTranscript(folder, `${name}/${inner}`));
    const files = readdirSync(full, { recursive: true, encoding: 'utf8' })
      .filter((inner) => statSync(path.join(full, inner)).isFile())
      .map((inner) => sourceOf(readFileSync(path.join(full, inner)), inner));
    return [{ name: `${folder}/${name}`, folder, source: folderOf(files, name) }];
  });
}

function fileTranscript(folder: string, name: string): Transcript {
  return {
    name: `${folder}/${name}`,
    folder,
    source: sourceOf(readFileSync(path.join(CORPUS, folder, name)), name),
  };
}

const TRANSCRIPTS = FOLDERS.flatMap(transcriptsIn);

interface Tally {
  files: number;
  refused: number;
  messages: number;
  repairs: Map<string, number>;
  approximated: number;
  dropped: number;
}
const tallies = new Map<string, Tally>();

function tallyOf(format: string): Tally {
  const known = tallies.get(format) ?? {
    files: 0,
    refused: 0,
    messages: 0,
    repairs: new Map(),
    approximated: 0,
    dropped: 0,
  };
  tallies.set(format, known);
  return known;
}

const bytesOf = (messages: readonly Message[]) => canonicalJson(messages.map(messageToJson));

async function restore(storage: MemoryStorage) {
  const opened = await openMemory(storage, 'agent', { compaction: null });
  try {
    const report = await new WorkingContextSnapshotBootstrapper().bootstrap(opened.memory, null);
    return { report, messages: opened.memory.getWorkingContextMessages() };
  } finally {
    await opened.close();
  }
}

function expectAccepted(name: string, messages: readonly Message[]): void {
  expect(checkHistory(messages)).toStrictEqual([]);
  for (const target of TARGETS) {
    const first = project(target, messages, { provider: 'anthropic' });
    expect(checkRequest(target, first.request), `${name} to ${target}`).toStrictEqual([]);
    const again = project(target, messages, { provider: 'anthropic' });
    expect(JSON.stringify(again.request)).toBe(JSON.stringify(first.request));
  }
}

describe.skipIf(TRANSCRIPTS.length === 0)('the transcript', () => {
  it.each(TRANSCRIPTS)(
    '$name is imported, restored, accepted by every provider, and restored the same',
    async ({ name, folder, source }) => {
      const storage = new MemoryStorage();
      const refusal = NOT_IMPORTED[name];
      if (refusal !== undefined) {
        const thrown = await importTranscript(storage, 'agent', source).catch((error: unknown) => error);
        expect(isRekindleError(thrown) ? thrown.code : thrown).toBe(refusal);
        tallyOf(folder).refused += 1;
        return;
      }
      const imported = await importTranscript(storage, 'agent', source);
      if (imported.messages === 0) {
        tallyOf(imported.format).files += 1;
        return;
      }
      const first = await restore(storage);
      expectAccepted(name, first.messages);
      const second = await restore(storage); // nothing was saved in between: as after a kill
      expect(second.report.repairs).toStrictEqual([]);
      expect(bytesOf(second.messages)).toBe(bytesOf(first.messages));
      const tally = tallyOf(imported.format);
      tally.files += 1;
      tally.messages += imported.messages;
      for (const { code } of first.report.repairs)
        tally.repairs.set(code, (tally.repairs.get(code) ?? 0) + 1);
      for (const { count } of imported.losses.approximated) tally.approximated += count;
      for (const { count } of imported.losses.dropped) tally.dropped += count;
    },
  );

  afterAll(() => {
    const table = new Table({
      head: ['format', 'files', 'refused', 'messages', 'repairs by code', 'approximated', 'dropped'],
      style: { head: [], border: [] },
    });
    for (const [format, { files, refused, messages, repairs, approximated, dropped }] of [
      ...tallies,
    ].sort()) {
      const codes = [...repairs].map(([code, count]) => `${code} ${count}`).join('\n');
      table.push([format, files, refused, messages, codes, approximated, dropped]);
    }
    process.stdout.write(`${table.toString()}\n`);
  });
});
