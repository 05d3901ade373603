/**
 * One turn of a host's own loop. Records each response once, even if a guarded tool recorded its calls first.
 */
import { randomBytes } from 'node:crypto';
import { isRekindleError } from '../../core/errors.js';
import type { JsonValue } from '../../core/json.js';
import type { FitRequest } from '../../memory/fit/context-fitter.js';
import type { AnsweredResponse, ToolResultInput } from '../../memory/memory-input.js';
import type { MemoryManager } from '../../memory/memory-manager.js';
import { waitsForOf } from '../../memory/restore/close-interrupted-calls.js';
import type { OpenCall } from '../../memory/working-context-snapshot.js';
import { callItemOf } from '../../messages/ai-sdk-metadata.js';
import { type Message, type ToolCallSpec, toolCallsOf } from '../../messages/message.js';
import type { GuardedTurn } from '../tools/guard-tools.js';
import { NOT_APPROVED_TEXT } from '../tools/tool-runner.js';
import type { HostApproval } from './approvals.js';
import { CallIds, freeId } from './call-ids.js';
import {
  isSilent,
  type RecordedResponse,
  ResponseMatcher,
  recordedResponses,
  WholeTurn,
} from './recorded-responses.js';
import { type ToldCall, type ToldResponse, type ToldResult, toldResponses } from './told-responses.js';

/** What is to be recorded, with its ids. */
interface Plan {
  readonly answers: AnsweredResponse[];
  /** Given id → own id, for the last call with the given id. */
  readonly ownIds: Map<string, string>;
  readonly told: string[];
}

export class HostTurn implements GuardedTurn {
  readonly turnId: string;
  readonly #memory: MemoryManager;
  readonly #ids = new CallIds();
  /** Calls that run or have run in this process. */
  readonly #runs = new Map<string, Promise<unknown>>();
  readonly #answers = new WeakMap<object, Promise<unknown>>();
  /** Responses that guarded tools recorded and no list has contained yet. */
  readonly #untold = new Set<string>();
  readonly #whole = new WholeTurn();
  /** Added to step ids after the context shrank: it may then have as many messages as at an earlier step. */
  #era = '';

  constructor(memory: MemoryManager, turnId: string) {
    this.#memory = memory;
    this.turnId = turnId;
  }

  /** Makes the context small enough for the next request. @throws CONTEXT_TOO_LARGE */
  async fit(request: FitRequest): Promise<void> {
    await this.#shrinking(() => this.#memory.fit(request));
  }

  /** See `MemoryManager.fitAfter`. */
  fitAfter(thrown: unknown): Promise<boolean> {
    return this.#shrinking(() => this.#memory.fitAfter(thrown));
  }

  /** Remembers the messages that leave the context, even if `shrink` fails. */
  async #shrinking<T>(shrink: () => Promise<T>): Promise<T> {
    const context = this.#inContext();
    const before = this.#whole.of(context);
    try {
      return await shrink();
    } finally {
      const now = this.#inContext();
      const staying = new Set(now);
      if (context.some((message) => !staying.has(message))) {
        this.#whole.keep(before, now);
        this.#era = `_${randomBytes(4).toString('hex')}`;
      }
    }
  }

  /** The common id of the calls of one step: they answer the same messages. */
  stepIdOf(messages: readonly unknown[] | undefined): string {
    return `${this.turnId}_step_${messages?.length ?? 0}${this.#era}`;
  }

  callIdOf(step: string, toolName: string, given: string, args: JsonValue): string {
    return this.#ids.ofRun(step, toolName, given, args, () => {
      const ran = new Set(this.#ids.taken);
      const open = this.#openCalls().find(
        ({ call }) => call.name === toolName && call.id === given && !ran.has(given),
      );
      if (open) return given;
      this.#untold.add(step);
      return freeId(given, this.#takenIds());
    });
  }

  isRecorded(callId: string): boolean {
    return this.#recordedCalls().some(({ id }) => id === callId);
  }

  callOf(callId: string): ToolCallSpec | undefined {
    return this.#recordedCalls().find(({ id }) => id === callId);
  }

  /**
   * A run that could not be recorded, for example because the disk failed, may be repeated. The ledger knows
   * whether the tool was started.
   */
  once<T>(callId: string, run: () => Promise<T>): Promise<T> {
    const known = this.#runs.get(callId);
    if (known) return known as Promise<T>;
    const started = run().catch((thrown: unknown) => {
      if (!isRekindleError(thrown, 'TOOL_FAILED')) this.#runs.delete(callId);
      throw thrown;
    });
    this.#runs.set(callId, started);
    return started;
  }

  /** Does not record the same response object twice. */
  answerOnce<T>(response: object, record: () => Promise<T>): Promise<T> {
    const known = this.#answers.get(response);
    if (known) return known as Promise<T>;
    const recorded = record().catch((thrown: unknown) => {
      this.#answers.delete(response);
      throw thrown;
    });
    this.#answers.set(response, recorded);
    return recorded;
  }

  /** Calls of the turn without a result. */
  openCalls(): ToolCallSpec[] {
    return this.#openCalls().map(({ call }) => call);
  }

  /** Records the new messages of a list, all or nothing. Durable when it resolves. */
  async ingest(messages: readonly Message[], approvals: readonly HostApproval[] = []): Promise<void> {
    const told = toldResponses(messages);
    const recorded = recordedResponses(this.#ownMessages());
    const matcher = new ResponseMatcher(
      recorded,
      (messageId) => !this.#untold.has(messageId),
      (id) => this.#ids.givenOf(id),
    );
    const plan: Plan = { answers: [], ownIds: new Map(), told: [] };
    const taken = this.#takenIds();
    const known = matcher.match(told.responses);
    for (const [index, response] of told.responses.entries()) {
      const own = known[index];
      if (own) planKnown(response, own, matcher.calls(own, response), taken, plan);
      else planNew(response, taken, plan);
    }
    this.#planDenials(approvals, plan);
    // First, because these results precede the calls of this list and cannot answer them.
    const strays = told.strays.flatMap((result) => this.#strayResult(result, recorded));
    if (strays.length > 0) plan.answers.unshift({ response: null, results: strays });
    await this.#write(plan, approvals);
  }

  /** A refused call gets its result from the refusal. */
  #planDenials(approvals: readonly HostApproval[], plan: Plan): void {
    const answered = new Set(plan.answers.flatMap(({ results }) => results.map(({ callId }) => callId)));
    for (const { callId: given, response } of approvals) {
      const callId = plan.ownIds.get(given) ?? this.#ownIdOf(given);
      const toolName = this.#nameOf(callId, plan);
      const isOpen = toolName !== '' && !answered.has(callId) && !this.#resultOf(callId);
      if (response?.['approved'] !== false || !isOpen) continue;
      const { reason } = response;
      const error = typeof reason === 'string' && reason.trim() !== '' ? reason : NOT_APPROVED_TEXT;
      plan.answers.push({ response: null, results: [{ callId, toolName, error }] });
    }
  }

  /** Records a response that no list has contained yet. Returns its calls under their own ids. */
  async record(messages: readonly Message[]): Promise<readonly ToolCallSpec[]> {
    const plan: Plan = { answers: [], ownIds: new Map(), told: [] };
    const taken = this.#takenIds();
    for (const response of toldResponses(messages).responses) planNew(response, taken, plan);
    await this.#write(plan, []);
    return plan.answers.flatMap(({ response, results }) => {
      const answered = new Set(results.map(({ callId }) => callId));
      return (response?.toolCalls ?? []).filter(({ id }) => !answered.has(id));
    });
  }

  /** Leaves calls to the client if the turn ends with them and no tool was started. */
  async leaveToClient(isClients: (toolName: string) => boolean = () => true): Promise<void> {
    for (const { call } of this.#openCalls()) {
      const known = { callId: call.id, turnId: this.turnId, toolName: call.name };
      const state = this.#memory.ledger.verdictOn(known);
      const isFree = state.verdict === 'not_started' && waitsForOf(state) === null;
      if (isFree && isClients(call.name)) await this.#memory.ledger.leftToClient(known);
    }
  }

  async #write(plan: Plan, approvals: readonly HostApproval[]): Promise<void> {
    const { ledger } = this.#memory;
    const answered = new Set(plan.answers.flatMap(({ results }) => results.map(({ callId }) => callId)));
    const open = approvals.flatMap((approval) => {
      const callId = plan.ownIds.get(approval.callId) ?? this.#ownIdOf(approval.callId);
      const call = { callId, turnId: this.turnId, toolName: this.#nameOf(callId, plan) };
      const isNew = !answered.has(callId) && !this.#resultOf(callId) && call.toolName !== '';
      return isNew ? [{ ...approval, call }] : [];
    });
    // Approval requests come before their call: after a crash, a request without a call is harmless, but a
    // call without its request would lose it.
    for (const { call, request } of open) {
      const known = ledger.verdictOn(call).request;
      if (request && known?.['approvalId'] !== request['approvalId'])
        await ledger.approvalRequested(call, request);
    }
    if (plan.answers.length > 0) await this.#memory.ingestResponses(plan.answers, this.turnId);
    for (const messageId of plan.told) this.#untold.delete(messageId);
    for (const { call, response } of open) {
      if (response && ledger.verdictOn(call).response === null)
        await ledger.approvalDecided(call, response['approved'] === true, response);
    }
  }

  #nameOf(callId: string, plan: Plan): string {
    const planned = plan.answers.flatMap(({ response }) => response?.toolCalls ?? []);
    return [...planned, ...this.#recordedCalls()].find(({ id }) => id === callId)?.name ?? '';
  }

  /** Null if the result is already there. A result for a call of another turn says so. */
  #strayResult(result: ToldResult, recorded: readonly RecordedResponse[]): ToolResultInput[] {
    const callId = this.#ownIdOf(result.payload.toolCallId);
    if (recorded.some(({ results }) => isReal(results.get(callId)))) return [];
    const open = this.#memory.openCalls().find(({ call }) => call.id === callId);
    const turnId = open?.turnId ?? this.turnId;
    return [{ ...resultInput(callId, result), turnId }];
  }

  #ownIdOf(given: string): string {
    const named = this.#recordedCalls().filter(({ id }) => (this.#ids.givenOf(id) ?? id) === given);
    return (named.find(({ id }) => !this.#resultOf(id)) ?? named.at(-1))?.id ?? given;
  }

  #resultOf(callId: string): boolean {
    return recordedResponses(this.#ownMessages()).some(({ results }) => isReal(results.get(callId)));
  }

  #openCalls(): OpenCall[] {
    return this.#memory.openCalls().filter(({ turnId }) => turnId === this.turnId);
  }

  #takenIds(): Set<string> {
    return new Set([...this.#recordedCalls().map(({ id }) => id), ...this.#ids.taken]);
  }

  #recordedCalls(): ToolCallSpec[] {
    return this.#ownMessages().flatMap((message) => toolCallsOf(message));
  }

  #ownMessages(): readonly Message[] {
    return this.#whole.of(this.#inContext());
  }

  #inContext(): Message[] {
    const { messages } = this.#memory.context;
    let start = messages.length;
    while (start > 0 && messages[start - 1]!.turnId === this.turnId) start -= 1;
    return messages.slice(start);
  }
}

function planNew(told: ToldResponse, taken: Set<string>, plan: Plan): void {
  const calls = told.calls.map((call) => ({ call, spec: ownSpec(call, taken, plan) }));
  const results = calls.flatMap(({ call, spec }) => (call.result ? [resultInput(spec.id, call.result)] : []));
  plan.answers.push({
    response: responseOf(
      told.message,
      calls.map(({ spec }) => spec),
    ),
    results,
  });
}

/** Calls that a guarded tool recorded stay; the text of their response is added to them. */
function planKnown(
  told: ToldResponse,
  recorded: RecordedResponse,
  calls: ReadonlyMap<ToldCall, ToolCallSpec>,
  taken: Set<string>,
  plan: Plan,
): void {
  const { messageId, message } = recorded;
  if (messageId !== undefined) plan.told.push(messageId);
  for (const [call, own] of calls) plan.ownIds.set(call.given, own.id);
  const missing = told.calls.filter((call) => !calls.has(call));
  const added = missing.map((call) => ({ call, spec: ownSpec(call, taken, plan) }));
  const known = [...calls].filter(([, own]) => !isReal(recorded.results.get(own.id)));
  const results = [
    ...known.map(([call, { id }]) => ({ call, id })),
    ...added.map(({ call, spec }) => ({ call, id: spec.id })),
  ];
  const items = isSilent(message)
    ? [...calls].flatMap(([call, own]) => callItemOf(own.id, call.spec, told.message.origin) ?? [])
    : [];
  const said = withItems(told.message, items);
  const joins = isSilent(message) && !isSilent(said);
  const response =
    joins || added.length > 0
      ? {
          ...responseOf(
            joins ? said : { role: 'assistant', content: null },
            added.map(({ spec }) => spec),
          ),
          ...(messageId === undefined ? {} : { messageId }),
        }
      : null;
  const answers = results.flatMap(({ call, id }) => (call.result ? [resultInput(id, call.result)] : []));
  if (response || answers.length > 0) plan.answers.push({ response, results: answers });
}

function withItems(message: Message, items: NonNullable<Message['providerItems']>): Message {
  return items.length === 0
    ? message
    : { ...message, providerItems: [...(message.providerItems ?? []), ...items] };
}

function ownSpec({ spec, given }: ToldCall, taken: Set<string>, plan: Plan): ToolCallSpec {
  const id = freeId(taken.has(spec.id) ? given : spec.id, taken);
  plan.ownIds.set(given, id);
  return id === spec.id ? spec : { ...spec, id };
}

function responseOf(
  message: Message,
  toolCalls: readonly ToolCallSpec[],
): NonNullable<AnsweredResponse['response']> {
  const { role: _, turnId: __, toolPayload: ___, messageId: ____, ...said } = message;
  return { ...said, toolCalls, final: false };
}

function resultInput(callId: string, { payload, parts }: ToldResult): ToolResultInput {
  const { toolName, toolResult, toolError } = payload;
  return { callId, toolName, result: toolResult, error: toolError, ...(parts ? { parts } : {}) };
}

/** A synthetic result is replaced by a real one. */
function isReal(result: Message | undefined): boolean {
  return result !== undefined && result.synthetic !== true;
}
