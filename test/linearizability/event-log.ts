/** The lines of all clients, put together into operations. */
import type { Answer, ClientEvent, Operation, Request } from './history.js';

interface Heard {
  readonly id: string;
  readonly key: string;
  readonly request: Request;
  readonly call: bigint;
  return: bigint | null;
  answer: Answer | null;
}

export class EventLog {
  readonly #heard = new Map<string, Heard>();
  readonly errors = new Map<string, number>();
  answers = 0;

  /** @returns whether it was an answer, good or bad */
  hear(line: string): boolean {
    const event = JSON.parse(line) as ClientEvent;
    if (event.t === 'call') {
      const { id, key, request, ns } = event;
      this.#heard.set(id, { id, key, request, call: BigInt(ns), return: null, answer: null });
      return false;
    }
    this.answers += 1;
    const { id, result, ns } = event;
    if (result.kind === 'error') {
      this.errors.set(result.code, (this.errors.get(result.code) ?? 0) + 1);
    } else {
      const heard = this.#heard.get(id)!;
      heard.answer = result;
      heard.return = BigInt(ns);
    }
    return true;
  }

  add(read: Omit<Heard, 'request'>): void {
    this.#heard.set(read.id, { ...read, request: { op: 'get' } });
  }

  /** Times count from the first call, so that a number holds them exactly. */
  operations(): Operation[] {
    const all = [...this.#heard.values()].sort((a, b) => (a.call < b.call ? -1 : 1));
    const origin = all[0]?.call ?? 0n;
    return all.map((heard) => ({
      id: heard.id,
      key: heard.key,
      request: heard.request,
      call: Number(heard.call - origin),
      return: heard.return === null ? Number.MAX_SAFE_INTEGER : Number(heard.return - origin),
      answer: heard.answer,
    }));
  }
}
