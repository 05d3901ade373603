/** What must hold of a stored agent, whoever owned it and however they ended. */
import type { JsonObject } from '../../src/core/json.js';
import type { Owners } from './owners.js';
import type { StoredAgent, StoredRow } from './stored-agent.js';
import { moveOf, parseAnswer, type TurnPlan, tagOfCall } from './turn-plan.js';

export type Complain = (text: string) => void;

export type Totals = Readonly<
  Record<
    | 'turns'
    | 'tool runs'
    | 'tool runs that the ledger calls finished'
    | 'tool runs of unknown outcome'
    | 'unknown outcomes',
    number
  >
>;

/** Complains of each thing that must not be. @returns what was counted */
export function checkAgent(stored: StoredAgent, owners: Owners, complain: Complain): Totals {
  checkNumbers(stored, complain);
  const turns = checkTurns(stored, owners, complain);
  checkResults(stored, owners, complain);
  checkWriters(stored, owners, complain);
  return { turns, ...checkRuns(stored, owners, complain) };
}

function checkNumbers({ traces, head }: StoredAgent, complain: Complain): void {
  if (head < traces.length) complain(`the stream ends at ${head}, and has ${traces.length} traces`);
  for (const [index, { seq, body }] of traces.entries()) {
    if (seq !== index + 1) complain(`trace ${index + 1} has the number ${seq}`);
    if (body['_seq'] !== undefined && body['_seq'] !== seq)
      complain(`trace ${seq} calls itself ${body['_seq']}`);
  }
}

/** Every input and every answer is there once, and in order; what was acknowledged is there. */
function checkTurns({ traces }: StoredAgent, owners: Owners, complain: Complain): number {
  const answers = new Map<string, number>();
  const asked = new Set<string>();
  let current = '';
  let last = '';
  for (const { body, seq } of traces) {
    if (body['trace_type'] === 'user') {
      const { id } = JSON.parse(String(body['content'])) as TurnPlan;
      if (asked.has(id)) complain(`the message ${id} is there twice (trace ${seq})`);
      if (last !== '' && !isBefore(last, id)) complain(`the message ${id} comes after ${last}`);
      asked.add(id);
      current = last = id;
    }
    const answer = body['trace_type'] === 'assistant' ? parseAnswer(String(body['content'])) : null;
    if (!answer) continue;
    if (answer.id !== current) complain(`the answer to ${answer.id} stands in the turn of ${current}`);
    if ([...answers.keys()].some((text) => parseAnswer(text)?.id === answer.id))
      complain(`the answer to ${answer.id} is there twice (trace ${seq})`);
    answers.set(String(body['content']), seq);
  }
  for (const { tag, what, id } of owners.acks) {
    if (what !== 'turn') continue;
    const seq = answers.get(id);
    if (seq === undefined) complain(`${tag} was told "${id}", which is not stored`);
    else if (seq > owners.lastOf(tag)) complain(`${tag} was told "${id}" after it was fenced (trace ${seq})`);
  }
  return answers.size;
}

function isBefore(a: string, b: string): boolean {
  const [tagA = '', numberA] = a.split('-');
  const [tagB = '', numberB] = b.split('-');
  return moveOf(tagA) - moveOf(tagB) < 0 || (tagA === tagB && Number(numberA) < Number(numberB));
}

function checkResults(stored: StoredAgent, owners: Owners, complain: Complain): void {
  const results = resultsOf(stored, complain);
  const calls = stored.traces.filter(({ body }) => body['trace_type'] === 'tool_call');
  const ids = new Set(calls.map(({ body }) => String(body['tool_call_id'])));
  if (ids.size !== calls.length) complain('a tool call is stored twice');
  for (const id of results.keys()) if (!ids.has(id)) complain(`the result of ${id} has no call`);
  for (const { tag, what, id } of owners.acks) {
    if (what !== 'result') continue;
    const result = results.get(id);
    if (!result || result.body['synthetic'] === true)
      complain(`${tag} was told the result of ${id}, which is not stored`);
    else if (result.seq > owners.lastOf(tag))
      complain(`${tag} was told the result of ${id} after it was fenced`);
  }
}

/** By call. */
function resultsOf({ traces }: StoredAgent, complain: Complain): Map<string, StoredRow> {
  const results = new Map<string, StoredRow>();
  for (const row of traces) {
    if (row.body['trace_type'] !== 'tool_result') continue;
    const id = String(row.body['tool_call_id']);
    if (results.has(id)) complain(`the call ${id} has two results (trace ${row.seq})`);
    results.set(id, row);
  }
  return results;
}

/** Between two restores, only the owner of that time wrote. */
function checkWriters({ traces }: StoredAgent, owners: Owners, complain: Complain): void {
  for (const { seq, body } of traces) {
    const writer = writerOf(body);
    if (writer === null) continue;
    const owner = owners.list.findLast(({ headAtStart }) => headAtStart < seq);
    if (owner?.tag !== writer)
      complain(`${writer} wrote trace ${seq} in the time of ${owner?.tag ?? 'nobody'}`);
  }
}

/** Null for what a restore wrote, and for results of calls that did not run. */
function writerOf(body: JsonObject): string | null {
  if (body['trace_type'] === 'user')
    return (JSON.parse(String(body['content'])) as TurnPlan).id.split('-')[0]!;
  if (body['trace_type'] === 'assistant') return parseAnswer(String(body['content']))?.tag ?? null;
  if (body['trace_type'] === 'tool_call') return tagOfCall(String(body['tool_call_id']));
  const result = body['trace_type'] === 'tool_result' ? (body['tool_result'] as JsonObject | null) : null;
  return result?.['by'] === undefined ? null : String(result['by']);
}

/** No call ran twice, none that the ledger does not know, and what is unknown was said. */
function checkRuns(stored: StoredAgent, owners: Owners, complain: Complain): Omit<Totals, 'turns'> {
  const { agentId, traces, ledger, runs } = stored;
  const keyFor = ({ body }: StoredRow, call: string) => `${agentId}/${body['turn_id']}/${body[call]}`;
  const starts = ledger.filter(({ body }) => body['event'] === 'started');
  const started = new Set(starts.map((row) => keyFor(row, 'call_id')));
  const ran = new Set<string>();
  for (const { key, tool } of runs) {
    if (ran.has(key) && tool !== 'note') complain(`the call ${key} ran twice`);
    if (!started.has(key)) complain(`the call ${key} ran, and the ledger does not know it`);
    ran.add(key);
  }
  const results = traces.filter(({ body }) => body['trace_type'] === 'tool_result');
  const isOwn = ({ body }: StoredRow) => body['synthetic'] !== true && body['tool_error'] == null;
  const finished = new Set(results.filter(isOwn).map((row) => keyFor(row, 'tool_call_id')));
  for (const key of finished)
    if (!ran.has(key)) complain(`the result of ${key} is stored, but it did not run`);
  const unknown = new Set(owners.list.flatMap(({ restored }) => restored.unknown));
  for (const key of unknown) {
    if (finished.has(key))
      complain(`a restore called the outcome of ${key} unknown, but its result is stored`);
    if (!started.has(key)) complain(`a restore called the outcome of ${key} unknown, but it was not started`);
  }
  for (const row of results) {
    const key = keyFor(row, 'tool_call_id');
    if (!isOwn(row) && (started.has(key) || ran.has(key)) && !unknown.has(key))
      complain(`the outcome of ${key} is unknown, and no restore said so`);
  }
  return {
    'tool runs': ran.size,
    'tool runs that the ledger calls finished': finished.size,
    'tool runs of unknown outcome': [...ran].filter((key) => unknown.has(key)).length,
    'unknown outcomes': unknown.size,
  };
}
