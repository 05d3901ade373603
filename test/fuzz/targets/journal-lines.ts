import { canonicalJson } from '../../../src/core/canonical-json.js';
import { crc32, crcHex } from '../../../src/core/crc32.js';
import { decodeLine, encodeHeader } from '../../../src/storage/file/journal-line.js';
import { encodeLineEnd, encodeRecord } from '../../../src/storage/record-encoding.js';
import { expectThat, type FuzzTarget } from '../fuzz-target.js';
import { TRACE_FILES } from '../seed-files.js';

const header = encodeHeader({ segment: 2, prevLength: 120, prevSeq: 3, fence: 4 }).toString().trim();

/** As if the disk, or a person who knows the format, had written it. */
function signed(line: string): string {
  const body = line.replace(/,?"_crc":"[^"]*"\}?$/, '');
  return `${body},"_crc":"${crcHex(crc32(Buffer.from(body)))}"}`;
}

export const journalLines: FuzzTarget = {
  name: 'journal-lines',
  weight: 30,
  seeds: [
    header,
    '{"a":1}',
    '{"_lost":1}',
    '{"_seq":1,"_crc":"00000000"}',
    ...TRACE_FILES.flatMap((text) => text.split('\n').filter(Boolean).slice(0, 8)),
  ],
  words: [
    '"_seq":',
    ',"_crc":"',
    '"_segment":',
    '"_prev_length":',
    '"_lost":1',
    '"trace_type"',
    '}',
    '"}',
    '\ufeff',
  ],
  take(input, random) {
    const line = input.replaceAll('\n', ' ');
    const decoded = decodeLine(
      Buffer.from(random.below(3) > 0 ? signed(line) : line, random.below(5) === 0 ? 'latin1' : 'utf8'),
    );
    if (decoded.kind !== 'record') return false;
    if (
      '_seq' in decoded.record ||
      '_crc' in decoded.record ||
      '_segment' in decoded.record ||
      '_lost' in decoded.record
    )
      return false;
    const encoded = encodeRecord(decoded.record);
    const again = decodeLine(
      Buffer.concat([encoded.body, Buffer.from(encodeLineEnd(encoded, 7).text.trimEnd())]),
    );
    expectThat(again.kind === 'record' && again.seq === 7, 'a record that was written is not read');
    if (again.kind === 'record')
      expectThat(
        canonicalJson(again.record) === canonicalJson(decoded.record),
        'a record is read as another one',
      );
    return true;
  },
};
