/** Claude Code sessions: a tree of records, one per line. One path of the tree is the conversation. Read in two passes. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import type { LossAccount } from '../loss-account.js';
import { RecordReader } from '../reading/record-reader.js';
import type { TranscriptHead, TranscriptImporter, TranscriptItem, TranscriptSource } from '../transcript.js';
import { indexSession, type SessionIndex } from './claude-code-index.js';
import { keptSegments } from './claude-code-kept.js';
import { planReading, type ReadingPlan } from './claude-code-plan.js';
import { SessionReading } from './claude-code-reading.js';
import { RECORD_KIND } from './claude-code-record.js';
import { activePath, isSubAgentFile, parentsOf } from './claude-code-tree.js';

export const claudeCodeImporter: TranscriptImporter = {
  format: 'claude-code',
  title: 'Claude Code session',
  lookedFor:
    'lines of type user or assistant with message, uuid and parentUuid or sessionId; or summary lines',
  recognises: (head) => head.shape === 'lines' && isSession(head),
  read,
};

async function* read(source: TranscriptSource, losses: LossAccount): AsyncGenerator<TranscriptItem> {
  const reader = new RecordReader(source);
  const index = await indexSession(source, reader, losses);
  const isSubAgents = isSubAgentFile(index);
  const isMain = (entry: number) => index.isSide(entry) === isSubAgents;
  const parents = parentsOf(index, await keptSegments(index, reader));
  const plan = planReading(index, activePath(index, parents, isMain), isMain);
  accountForTheRest(index, plan, isMain, losses);
  yield* new SessionReading(index, plan, reader, losses).items();
}

function accountForTheRest(
  index: SessionIndex,
  plan: ReadingPlan,
  isMain: (entry: number) => boolean,
  losses: LossAccount,
): void {
  for (let entry = 0; entry < index.size; entry += 1) {
    const kind = index.kindOf(entry);
    if (kind === RECORD_KIND.link) continue;
    const place = `line ${index.lineOf(entry)}`;
    if (!isMain(entry)) losses.drop('record of a sub-agent (sidechain)', place);
    else if (kind === RECORD_KIND.failed) losses.drop('failed answer (API error)', place);
    else if (!plan.has(entry)) losses.drop('record of another branch (rewound or retried)', place);
  }
}

function isSession(head: TranscriptHead): boolean {
  const records = head.items.filter(isJsonObject);
  return records.some(isSaid) || (records.length > 0 && records.every(isBesideTheTree));
}

/** A message record: its message has Anthropic's shape. */
function isSaid(record: JsonObject): boolean {
  const { type, message } = record;
  if ((type !== 'user' && type !== 'assistant') || !isJsonObject(message)) return false;
  const hasContent = typeof message['content'] === 'string' || Array.isArray(message['content']);
  return hasContent && message['role'] === type && isText(record['uuid']) && isText(record['sessionId']);
}

/** A file may hold only titles, or only what comes before the first prompt. */
function isBesideTheTree(record: JsonObject): boolean {
  const { type } = record;
  if (type === 'summary') return isText(record['summary']) && isText(record['leafUuid']);
  if (type === 'file-history-snapshot') return isJsonObject(record['snapshot']);
  if (type === 'queue-operation') return isText(record['operation']) && isText(record['sessionId']);
  const isLink = type === 'progress' || type === 'system' || type === 'attachment';
  const isChained = 'parentUuid' in record && 'isSidechain' in record;
  return isLink && isChained && isText(record['uuid']) && isText(record['sessionId']);
}

function isText(value: JsonValue | undefined): boolean {
  return typeof value === 'string' && value !== '';
}
