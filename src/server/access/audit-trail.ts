/** Records what callers of the server do, if the store has an audit log. Nothing is done or answered that could not be recorded. */
import type { AuditLog } from '../../storage/audit/audit-log.js';
import type { AuditAction, AuditEntry } from '../../storage/audit/audit-record.js';

/** Who acts, on what, and how. */
export interface AuditedCall {
  readonly actor: string;
  readonly action: AuditAction;
  /** Such as `agent desk`. */
  readonly target: string;
  /** Without arguments: they may contain texts. */
  readonly what: string;
}

export class AuditTrail {
  readonly #log: AuditLog | null;

  /** @param log null: nothing is recorded */
  constructor(log: AuditLog | null) {
    this.#log = log;
  }

  /** Durable when it resolves. @throws as `AuditLog.record` */
  async record(call: AuditedCall, outcome: AuditEntry['outcome'] = 'allowed'): Promise<void> {
    await this.#log?.record({ ...call, outcome });
  }

  /** Records the call as allowed if `check` passes, else as refused. @throws what `check` and `record` throw */
  async checked<T>(call: AuditedCall, check: () => Promise<T>): Promise<T> {
    let checked: T;
    try {
      checked = await check();
    } catch (thrown) {
      await this.record(call, 'refused');
      throw thrown;
    }
    await this.record(call);
    return checked;
  }

  async close(): Promise<void> {
    await this.#log?.close();
  }
}

/** A wrong token: nobody is known by it. */
export const UNKNOWN_CALLER: AuditedCall = {
  ...{ actor: 'unknown', action: 'authenticate', target: 'store', what: 'wrong token' },
};
