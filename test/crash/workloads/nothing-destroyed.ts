/** P7: bytes that were on the disk are still there, in place or set aside, after a recovery that only appends. */
import { demand } from '../workload.js';

/** Of the storage's own making, and without content of anyone's: temporary files and leases. */
const OWN = /\/\.tmp-|[/.]lease\//;

export function assertNothingDestroyed(
  before: ReadonlyMap<string, Uint8Array>,
  after: ReadonlyMap<string, Uint8Array>,
): void {
  for (const [path, bytes] of before) {
    if (bytes.length === 0 || OWN.test(path)) continue;
    if (startsWith(after.get(path), bytes)) continue;
    const kept =
      [...after].some(([, other]) => startsWith(other, bytes)) || isCutAndSetAside(path, bytes, after);
    demand(kept, () => `${path}: ${bytes.length} bytes that were there before recovery are gone`);
  }
}

/** The file keeps its head, and another file holds what was cut off. */
function isCutAndSetAside(path: string, bytes: Uint8Array, after: ReadonlyMap<string, Uint8Array>): boolean {
  for (const [otherPath, tail] of after) {
    const cut = bytes.length - tail.length;
    if (!/\.torn-/.test(otherPath) || cut < 0 || !startsWith(tail, bytes.subarray(cut))) continue;
    const head = bytes.subarray(0, cut);
    if (
      cut === 0 ||
      startsWith(after.get(path), head) ||
      [...after.values()].some((other) => startsWith(other, head))
    )
      return true;
  }
  return false;
}

function startsWith(bytes: Uint8Array | undefined, head: Uint8Array): boolean {
  if (!bytes || bytes.length < head.length) return false;
  return Buffer.compare(bytes.subarray(0, head.length), head) === 0;
}
