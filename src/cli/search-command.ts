/** `rekindle search`: searches the past of one agent, or of all agents of a store. Changes nothing. */
import type { Command } from 'commander';
import { isRekindleError, type RekindleError } from '../core/errors.js';
import type { JsonObject } from '../core/json.js';
import { isListedAgent } from '../memory/maintenance/agent-summary.js';
import { timeOf } from '../memory/recall/passage.js';
import type { RecallHit } from '../memory/recall/recall-index.js';
import { type PastQuery, searchAgent } from '../memory/recall/search-agent.js';
import {
  assertWords,
  momentOf,
  OFFSET_MAX,
  RESULTS_MAX,
  SPEAKER_WORDS,
  speakersOf,
} from '../memory/recall/search-filters.js';
import type { StorageBackend } from '../storage/ports.js';
import { type CommonOptions, errorToJson, runCommand, withCommonOptions } from './command-context.js';
import { excerpt } from './safe-text.js';
import { wholeNumber } from './value-text.js';

interface SearchCommandOptions extends CommonOptions {
  readonly limit: string;
  readonly offset: string;
  readonly speaker?: string;
  readonly tool?: string;
  readonly since?: string;
  readonly until?: string;
}

/** With the limit and offset of the page, which all agents share. */
type Query = PastQuery & { readonly limit: number; readonly offset: number };

interface Found extends RecallHit {
  readonly agentId: string;
}

interface Page {
  readonly found: readonly Found[];
  readonly nextOffset: number | null;
  readonly searched: number;
  readonly problems: readonly { readonly agentId: string; readonly error: RekindleError }[];
}

const WIDTH_DEFAULT = 100;
const WIDTH_MIN = 40;
const INDENT = '    ';
/** Longer than any passage. */
const TEXT_MAX = 1_000;

export function addSearchCommand(program: Command): void {
  withCommonOptions(
    program
      .command('search <agent-or-words> [words]')
      .usage('[options] [agent] <words>')
      .description('find words in the past of an agent, or of all agents (changes nothing)')
      .option('--limit <n>', `results, at most ${RESULTS_MAX}`, '10')
      .option('--offset <n>', `skip this many results, at most ${OFFSET_MAX}`, '0')
      .option('--speaker <who>', `only this speaker: ${Object.keys(SPEAKER_WORDS).join(', ')}`)
      .option('--tool <name>', 'only calls and results of this tool')
      .option('--since <time>', 'from this time on (ISO 8601)')
      .option('--until <time>', 'before this time (ISO 8601)'),
  ).action((first: string, second: string | undefined, options: SearchCommandOptions) =>
    runCommand(options, async ({ storage, print }) => {
      const [agentId, words] = second === undefined ? [null, first] : [first, second];
      const query = queryOf(words, options);
      const page = await (agentId === null ? searchAll(storage, query) : searchOne(storage, agentId, query));
      print(linesOf(page, agentId === null), { query: words, ...pageJson(page) });
      return undefined;
    }),
  );
}

/** @throws INVALID_ARGUMENT */
function queryOf(words: string, options: SearchCommandOptions): Query {
  assertWords('words', words);
  const { speaker, tool, since, until } = options;
  return {
    text: words,
    nowMs: Date.now(),
    limit: wholeNumber(options.limit, '--limit', 1, RESULTS_MAX),
    offset: wholeNumber(options.offset, '--offset', 0, OFFSET_MAX),
    ...(speaker === undefined ? {} : { speakers: speakersOf('--speaker', speaker) }),
    ...(tool === undefined ? {} : { toolName: tool }),
    ...(since === undefined ? {} : { fromMs: momentOf('--since', since) }),
    ...(until === undefined ? {} : { toMs: momentOf('--until', until) }),
  };
}

/** @throws AGENT_NOT_FOUND */
async function searchOne(storage: StorageBackend, agentId: string, query: Query): Promise<Page> {
  const { hits, nextOffset, searched } = await searchAgent(storage, agentId, query);
  return { found: hits.map((hit) => ({ ...hit, agentId })), nextOffset, searched, problems: [] };
}

/** Reports an unreadable agent and searches the others. */
async function searchAll(storage: StorageBackend, query: Query): Promise<Page> {
  const { limit, offset } = query;
  const lists: Found[][] = [];
  const problems: Page['problems'][number][] = [];
  let searched = 0;
  for (const agentId of await storage.listNames(['agents'])) {
    try {
      if (!(await isListedAgent(storage, agentId))) continue;
      // One agent may fill the page; one more result shows that there is a next page.
      const page = await searchOne(storage, agentId, { ...query, limit: offset + limit + 1, offset: 0 });
      lists.push([...page.found]);
      searched += page.searched;
    } catch (thrown) {
      if (!isRekindleError(thrown)) throw thrown;
      problems.push({ agentId, error: thrown });
    }
  }
  const merged = merge(lists);
  const end = offset + limit;
  const nextOffset = merged.length > end ? end : null;
  return { found: merged.slice(offset, end), nextOffset, searched, problems };
}

/**
 * The best result of each agent, then the second of each, and so on; within a rank by score. Scores depend on
 * how rare a word is for one agent, so they are not comparable: by score alone, one agent would fill the
 * page.
 */
function merge(lists: readonly (readonly Found[])[]): Found[] {
  const ranks = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: ranks }, (_, rank) =>
    lists.flatMap((list) => list[rank] ?? []).sort((a, b) => b.score - a.score),
  ).flat();
}

function linesOf({ found, nextOffset, searched, problems }: Page, isAll: boolean): string[] {
  const none = `Nothing found in ${searched} ${searched === 1 ? 'passage' : 'passages'}.`;
  return [
    ...(found.length === 0 ? [none] : found.flatMap((hit) => hitLines(hit, isAll))),
    ...(nextOffset === null || nextOffset > OFFSET_MAX ? [] : [`There is more: --offset ${nextOffset}`]),
    ...problems.map(
      ({ agentId, error }) =>
        `Left out: ${excerpt(agentId, 48)}: ${excerpt(error.message, 300)} (${error.code})`,
    ),
  ];
}

function hitLines({ agentId, passage }: Found, isAll: boolean): string[] {
  const { seq, turnId, speaker, toolName, text } = passage;
  const head = [
    ...(isAll ? [excerpt(agentId, 48)] : []),
    excerpt(turnId, 48),
    timeOf(passage) ?? '-',
    toolName === null ? speaker : `${speaker} ${excerpt(toolName, 64)}`,
    `record ${seq}`,
  ];
  return [head.join('  '), ...wrapped(excerpt(text, TEXT_MAX))];
}

/** Breaks lines at spaces. A word longer than a line stays whole, and the terminal wraps it. */
function wrapped(line: string): string[] {
  const width = Math.max(WIDTH_MIN, (process.stdout.columns ?? WIDTH_DEFAULT) - INDENT.length);
  const lines: string[] = [];
  let current = '';
  for (const word of line.split(' ')) {
    if (current !== '' && current.length + 1 + word.length > width) {
      lines.push(current);
      current = word;
    } else current = current === '' ? word : `${current} ${word}`;
  }
  return [...lines, current].map((part) => `${INDENT}${part}`);
}

function pageJson({ found, nextOffset, searched, problems }: Page): JsonObject {
  return {
    results: found.map(({ agentId, score, passage }) => ({
      agentId,
      record: passage.seq,
      at: timeOf(passage),
      turnId: passage.turnId,
      speaker: passage.speaker,
      toolName: passage.toolName,
      text: passage.text,
      score,
    })),
    nextOffset,
    searchedPassages: searched,
    problems: problems.map(({ agentId, error }) => ({ agentId, error: errorToJson(error) })),
  };
}
