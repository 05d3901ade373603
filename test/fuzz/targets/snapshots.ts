import { crc32, crcHex } from '../../../src/core/crc32.js';
import { decodeSnapshot, encodeSnapshot } from '../../../src/memory/store/snapshot-file.js';
import { repairHistory } from '../../../src/messages/legality/history.js';
import { expectThat, type FuzzTarget } from '../fuzz-target.js';
import { AGENT, expectUsable, newStore, restoreTwice } from '../restored.js';
import { SNAPSHOT_FILES } from '../seed-files.js';

/** With the checksum that belongs to it. */
function signed(text: string): string {
  const at = text.lastIndexOf(',"crc":"');
  if (at < 0) return text;
  return `${text.slice(0, at)},"crc":"${crcHex(crc32(Buffer.from(text.slice(0, at))))}"}\n`;
}

export const snapshots: FuzzTarget = {
  name: 'snapshots',
  weight: 8,
  seeds: SNAPSHOT_FILES,
  words: [
    '"schema_version":1',
    '"agent_id"',
    '"messages":[',
    '\n],',
    '"epoch_id"',
    '"covers_seq"',
    '"cursor"',
    '"role":"user"',
    '"tool_payload"',
    ',"crc":"',
    '"content"',
    '"parts"',
  ],
  async take(input, random) {
    const text = random.below(3) > 0 ? signed(input) : input;
    const file = await decodeSnapshot(Buffer.from(text), null);
    if (file.status === 'valid') {
      const { bytes } = await encodeSnapshot(AGENT, file.messages, file.footer);
      const again = await decodeSnapshot(bytes, AGENT);
      expectThat(again.status === 'valid', 'a snapshot that was written is not read');
      expectUsable(repairHistory(file.messages).messages, random);
    }
    const readable = file.status === 'valid' || file.status === 'plain';
    if (readable && random.below(8) === 0) await restoreIt(text);
    return readable;
  },
};

async function restoreIt(text: string): Promise<void> {
  const { storage, later } = newStore();
  const own = text.replace(/"agent_id":"[^"]*"/, `"agent_id":"${AGENT}"`);
  await storage.documents.writeBytes(
    ['agents', AGENT, 'working_context_snapshot.json'],
    Buffer.from(signed(own)),
  );
  later();
  await restoreTwice(storage);
}
