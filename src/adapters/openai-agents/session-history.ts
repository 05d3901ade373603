/** The state after the records: the items of a session, and the applied transactions. No I/O. */
import { createHash } from 'node:crypto';
import type { SessionHistoryMutation, SessionHistoryTransactionArgs } from '@openai/agents-core';
import { canonicalJson } from '../../core/canonical-json.js';
import { RekindleError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import { encodeItem, encodeItems } from './item-encoding.js';
import type { CallReplacement, SessionChange } from './session-record.js';

/** A transaction with valid arguments. */
export interface CheckedTransaction {
  readonly operationId: string;
  readonly digest: string;
  readonly expectedSuffix: readonly JsonObject[];
  readonly items: readonly JsonObject[];
}

export class SessionHistory {
  #items: JsonObject[] = [];
  /** Digests by operation id. */
  #applied = new Map<string, string>();

  get items(): readonly JsonObject[] {
    return this.#items;
  }

  get isEmpty(): boolean {
    return this.#items.length === 0 && this.#applied.size === 0;
  }

  apply(change: SessionChange): void {
    if (change.op === 'add') for (const item of change.items) this.#items.push(item);
    else if (change.op === 'pop') this.#items.pop();
    else if (change.op === 'clear') this.#clear();
    else if (change.op === 'compact') this.#items = [...change.items];
    else if (change.op === 'rewrite') this.#items = rewritten(this.#items, change.replacements);
    else {
      this.#items = [...this.#items.slice(0, this.#items.length - change.drop), ...change.items];
      this.#applied.set(change.operation_id, change.digest);
    }
  }

  #clear(): void {
    this.#items = [];
    this.#applied = new Map();
  }

  /**
   * The change of a transaction; null if it was applied before.
   * @throws INVALID_ARGUMENT if its id belongs to another one, JOURNAL_CONFLICT if the history has another
   * suffix
   */
  changeOf(transaction: CheckedTransaction): SessionChange | null {
    const { operationId, digest, expectedSuffix, items } = transaction;
    const applied = this.#applied.get(operationId);
    if (applied === digest) return null;
    if (applied !== undefined)
      throw invalid('operationId', 'it was already applied with a different transaction');
    const suffix = this.#items.slice(Math.max(0, this.#items.length - expectedSuffix.length));
    if (canonicalJson(suffix) !== canonicalJson([...expectedSuffix]))
      throw new RekindleError('JOURNAL_CONFLICT', 'The history does not end with the expected suffix.', {
        details: { operationId, length: this.#items.length, expected: expectedSuffix.length },
      });
    return { op: 'transaction', operation_id: operationId, digest, drop: expectedSuffix.length, items };
  }

  /** Null if none of the calls is in the history. */
  changeOfCalls(replacements: readonly CallReplacement[]): SessionChange | null {
    const isNamed = (id: string) => this.#items.some((item) => isCall(item, id));
    return replacements.some(({ call_id }) => isNamed(call_id)) ? { op: 'rewrite', replacements } : null;
  }
}

/** @throws INVALID_ARGUMENT */
export function checkTransaction(args: SessionHistoryTransactionArgs): CheckedTransaction {
  const { operationId, transaction } = args;
  if (typeof operationId !== 'string' || operationId.trim() === '')
    throw invalid('operationId', 'it must be a non-empty string');
  if (transaction?.type === 'append_items') {
    const items = encodeItems(transaction.items, 'items');
    return { operationId, digest: digestOf({ type: transaction.type, items }), expectedSuffix: [], items };
  }
  if (transaction?.type !== 'replace_suffix')
    throw invalid('transaction', 'it is neither `append_items` nor `replace_suffix`');
  const expectedSuffix = encodeItems(transaction.expectedSuffix, 'expectedSuffix');
  const items = encodeItems(transaction.replacement, 'replacement');
  const digest = digestOf({ type: transaction.type, expected_suffix: expectedSuffix, replacement: items });
  return { operationId, digest, expectedSuffix, items };
}

/** @throws INVALID_ARGUMENT */
export function checkMutations(mutations: readonly SessionHistoryMutation[]): CallReplacement[] {
  if (!Array.isArray(mutations)) throw invalid('mutations', 'it must be an array');
  return mutations.map((mutation: SessionHistoryMutation, index) => {
    const at = `mutations[${index}]`;
    if (mutation?.type !== 'replace_function_call') throw invalid(at, 'it must be a `replace_function_call`');
    if (typeof mutation.callId !== 'string') throw invalid(at, 'its `callId` must be a string');
    return { call_id: mutation.callId, item: encodeItem(mutation.replacement, `${at}.replacement`) };
  });
}

function rewritten(items: readonly JsonObject[], replacements: readonly CallReplacement[]): JsonObject[] {
  let result = [...items];
  for (const { call_id, item } of replacements) {
    const first = result.findIndex((each) => isCall(each, call_id));
    if (first < 0) continue;
    result = result.filter((each, index) => index <= first || !isCall(each, call_id));
    result[first] = item;
  }
  return result;
}

function isCall(item: JsonObject, callId: string): boolean {
  return item['type'] === 'function_call' && item['callId'] === callId;
}

function digestOf(transaction: JsonObject): string {
  return createHash('sha256').update(canonicalJson(transaction)).digest('hex');
}

function invalid(argument: string, problem: string): RekindleError {
  return new RekindleError('INVALID_ARGUMENT', `${argument} is refused: ${problem}.`, {
    details: { argument, problem },
  });
}
