/**
 * The files of one journal: numbered sealed segments, archived ones in `<name>.archive/`, and the live one, which has
 * the plain name.
 *
 * raw_traces.000001-4.jsonl   sealed by the owner with fence 4 raw_traces.000002-9.jsonl   sealed by the owner with
 * fence 9 raw_traces.jsonl            live, number 3; its first line states where number 2 ends
 *
 * A segment's header identifies it; its name only avoids collisions. The name contains the fence because a rename
 * cannot be conditional: an owner that was suspended just before its rename and wakes after others continued moves a
 * file that is not the one it checked. That file then has an unusual name and nothing is lost, because no two owners
 * ever rename to the same name.
 */
import path from 'node:path';
import { errnoOf, type FileSystem, type OpenFile } from '../file-system.js';
import { listOrEmpty, openExisting, readRange, withFile } from './file-io.js';
import { decodeLine, type SegmentHeader } from './journal-line.js';

/** Bytes read for a header line, which is far shorter. */
const HEADER_BLOCK_BYTES = 512;
/** A scan rarely collides with a writer that seals, and hardly ever twice; on a busy machine more often. */
const SCAN_TRIES = 20;
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

export interface Segment {
  readonly number: number;
  readonly path: string;
  readonly sizeBytes: number;
  readonly header: SegmentHeader | null;
  /** Position of its first record line. */
  readonly start: number;
  readonly live: boolean;
  /** A later segment whose header line is incomplete: its writer stopped before it wrote anything else. */
  readonly headerTorn: boolean;
  /** Another segment with this number has a newer fence: an owner that had been fenced off started this one. */
  readonly superseded: boolean;
  /** The journal it belongs to. */
  readonly files: SegmentFiles;
}

export class SegmentFiles {
  readonly folder: string;
  readonly base: string;

  /** @param plainPath path of the live file without `.jsonl` */
  constructor(plainPath: string) {
    this.folder = path.dirname(plainPath);
    this.base = path.basename(plainPath);
  }

  get livePath(): string {
    return path.join(this.folder, `${this.base}.jsonl`);
  }

  get archiveFolder(): string {
    return path.join(this.folder, `${this.base}.archive`);
  }

  /** A name that only the owner with this fence uses. */
  sealedPath(number: number, fence: number): string {
    return path.join(this.folder, `${this.base}.${String(number).padStart(6, '0')}-${fence}.jsonl`);
  }

  /** For a foreign live file, next to the sealed ones: read if its header shows that it is a segment after all. */
  strayPath(number: number, fence: number, tag: string): string {
    return path.join(this.folder, `${this.base}.${String(number).padStart(6, '0')}-${fence}.${tag}.jsonl`);
  }

  tornPath(offset: number, tag: string): string {
    return path.join(this.folder, `${this.base}.torn-${offset}-${tag}`);
  }

  /** Whether a name in the folder belongs to this journal: a segment, or a tail that was cut off one. */
  owns(name: string): boolean {
    if (name === path.basename(this.livePath)) return true;
    const rest = name.startsWith(`${this.base}.`) ? name.slice(this.base.length + 1) : '';
    return /^\d{6,}-\d+(?:\.[0-9a-f]{8})?\.jsonl$|^torn-\d+-/.test(rest);
  }

  /** Whether a file was cut off a segment of this journal, kept by a repair, or left unfinished by one. */
  isAside(name: string): boolean {
    const rest = name.startsWith(`${this.base}.`) ? name.slice(this.base.length + 1) : '';
    return /^torn-\d+-|^(?:\d{6,}-\d+(?:\.[0-9a-f]{8})?\.)?jsonl\.(?:damaged|clean)-[0-9a-f]{8}$/.test(rest);
  }

  /** The sealed segments in order, then the live one if it exists. Scans again if a writer seals one meanwhile. */
  async scan(fs: FileSystem, options: { readonly archived?: boolean } = {}): Promise<Segment[]> {
    for (let tries = 1; ; tries += 1) {
      const found = await this.#sealedIn(fs, this.folder);
      const archive = options.archived || found.length === 0 ? await this.scanArchive(fs) : [];
      const highest = Math.max(found.at(-1)?.number ?? 0, archive.at(-1)?.number ?? 0);
      const live = await this.#describe(fs, this.livePath, highest + 1, true);
      const follows = live !== null && (live.header?.segment ?? highest + 1) === highest + 1;
      if (!follows && tries < SCAN_TRIES && (await this.#hasMore(fs, found))) continue;
      // A crash during archiving can leave a segment in both folders. The bytes are the same, so one is enough.
      const here = new Set(found.map(identityOf));
      const set = options.archived ? archive.filter((segment) => !here.has(identityOf(segment))) : [];
      return inOrder([...set, ...found, ...(live ? [live] : [])]);
    }
  }

  async #hasMore(fs: FileSystem, seen: readonly Segment[]): Promise<boolean> {
    const now = await this.#sealedIn(fs, this.folder);
    return (now.at(-1)?.number ?? 0) > (seen.at(-1)?.number ?? 0);
  }

  async scanArchive(fs: FileSystem): Promise<Segment[]> {
    return this.#sealedIn(fs, this.archiveFolder);
  }

  async #sealedIn(fs: FileSystem, folder: string): Promise<Segment[]> {
    const prefix = `${this.base}.`;
    const segments: Segment[] = [];
    for (const name of await listOrEmpty(fs, folder)) {
      if (!name.startsWith(prefix)) continue;
      const match = /^(\d{6,})(?:-\d+(?:\.[0-9a-f]{8})?)?\.jsonl$/.exec(name.slice(prefix.length));
      const segment = match && (await this.#describe(fs, path.join(folder, name), Number(match[1]), false));
      if (segment) segments.push(segment);
    }
    return inOrder(segments);
  }

  async #describe(fs: FileSystem, file: string, number: number, live: boolean): Promise<Segment | null> {
    let opened: Awaited<ReturnType<FileSystem['open']>>;
    try {
      opened = await fs.open(file, 'read');
    } catch (thrown) {
      if (errnoOf(thrown) === 'ENOENT') return null;
      throw thrown;
    }
    return withFile(opened, async () => {
      const sizeBytes = await opened.sizeBytes();
      const block = await readRange(opened, 0, Math.min(HEADER_BLOCK_BYTES, sizeBytes));
      const lineEnd = block.indexOf(0x0a);
      const first = lineEnd < 0 ? null : decodeLine(block.subarray(0, lineEnd));
      const header = first?.kind === 'header' ? first.header : null;
      const start = header ? lineEnd + 1 : block.subarray(0, 3).equals(BOM) ? 3 : 0;
      const headerTorn = header === null && number > 1 && lineEnd < 0 && sizeBytes < HEADER_BLOCK_BYTES;
      const actual = header?.segment ?? number;
      return {
        number: actual,
        path: file,
        sizeBytes,
        header,
        start,
        live,
        headerTorn,
        superseded: false,
        files: this,
      };
    });
  }

  /** The current path of a segment, which a writer may have sealed or archived since the scan. Null if it is gone. */
  async locate(fs: FileSystem, segment: Segment): Promise<string | null> {
    const sealed = [...(await this.#sealedIn(fs, this.folder)), ...(await this.scanArchive(fs))];
    return sealed.find((found) => identityOf(found) === identityOf(segment))?.path ?? null;
  }
}

/** By number. Of two with the same number, the one with the newer fence comes last and the other is marked. */
function inOrder(segments: readonly Segment[]): Segment[] {
  const sorted = segments.toSorted((a, b) => a.number - b.number || fenceOf(a) - fenceOf(b));
  return sorted.map((segment, index) => {
    const next = sorted[index + 1];
    const superseded = !segment.headerTorn && next?.number === segment.number && !next.headerTorn;
    return superseded ? { ...segment, superseded } : segment;
  });
}

function fenceOf(segment: Segment): number {
  return segment.header?.fence ?? 0;
}

function identityOf(segment: Segment): string {
  return `${segment.number}/${fenceOf(segment)}/${segment.headerTorn}`;
}

/** Where a reader gets the files of segments. */
export interface SegmentSource {
  open(segment: Segment): Promise<OpenFile>;
  /** For each file that `open` gave. */
  close(segment: Segment, file: OpenFile): Promise<void>;
}

/** Opens each file for one reader. */
export function ownFiles(fs: FileSystem): SegmentSource {
  return { open: (segment) => openSegment(fs, segment), close: (_, file) => file.close() };
}

/** Opens a segment for reading at its current path, which may have changed since the scan. */
export async function openSegment(fs: FileSystem, segment: Segment): Promise<OpenFile> {
  const file = await openExisting(fs, segment.path, 'read');
  if (file && (!segment.live || (await holds(file, segment)))) return file;
  await file?.close();
  return fs.open((await segment.files.locate(fs, segment)) ?? segment.path, 'read');
}

/** The live name is reused for each new segment; only the header tells them apart. */
async function holds(file: OpenFile, segment: Segment): Promise<boolean> {
  try {
    const block = await readRange(file, 0, HEADER_BLOCK_BYTES);
    const first = decodeLine(block.subarray(0, Math.max(0, block.indexOf(0x0a))));
    return (first.kind === 'header' ? first.header.segment : null) === (segment.header?.segment ?? null);
  } catch (thrown) {
    await file.close().catch(() => {});
    throw thrown;
  }
}
