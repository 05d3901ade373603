/**
 * Closes the descriptors of closed connections. `@photostructure/sqlite` keeps a closed database open until the last of
 * its statements is garbage collected, and cannot finalize a statement. So garbage is collected here. The runtime's own
 * SQLite does not need this.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import v8 from 'node:v8';
import vm from 'node:vm';

let closed = 0;
let collect: (() => void) | null = null;

export function countClosed(): void {
  closed += 1;
}

/** When it resolves, closed connections have no descriptor any more. */
export async function releaseClosed(): Promise<void> {
  if (closed === 0) return;
  closed = 0;
  if (process.getBuiltinModule?.('node:sqlite')) return;
  collect ??= collector();
  collect();
  await nextTurn(); // finalizers run then
}

/** Node.js has no other way to trigger it. */
function collector(): () => void {
  v8.setFlagsFromString('--expose-gc');
  const found: unknown = vm.runInNewContext('gc');
  v8.setFlagsFromString('--no-expose-gc');
  return typeof found === 'function' ? (found as () => void) : () => {};
}
