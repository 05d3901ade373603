/**
 * A disk in memory on which every unsynced change is volatile.
 *
 * It behaves as a file system for a running process, and logs each change. After a workload ran once, `crashStates`
 * gives every state that a power cut at any moment of it may have left, and `killedAt` the disk that the next process
 * finds if only the process died. Names and data are independent: a synced file whose name was not synced can be lost.
 * See `file-survivors.ts` and `folder-survivors.ts` for what may survive.
 */
import { type Clock, ManualClock } from '../../core/clock.js';
import type { FileStat, FileSystem, OpenFile, OpenMode } from '../file-system.js';
import { type CrashOptions, type CrashState, crashStates } from './crash-states.js';
import { DiskError } from './disk-error.js';
import type { DiskEvent } from './disk-event.js';
import { DiskImage, ROOT_INODE } from './disk-image.js';
import { LiveFile, LiveFolder } from './live-inode.js';
import { type FileHost, SimulatedFile } from './simulated-file.js';

/** The initial state of a `SimulatedDisk`. */
export interface SimulatedDiskOptions {
  readonly clock?: Clock;
  /** Folders that exist at the start, durable. */
  readonly folders?: readonly string[];
  /** Initial content, instead of `folders`. */
  readonly image?: DiskImage;
}

const COMMON_STAT = { sizeBytes: 0, modifiedMs: 0, changedMs: 0, links: 1, ownerId: 0 };
const FOLDER_STAT = { ...COMMON_STAT, kind: 'folder', mode: 0o700 } as const;
const FILE_STAT = { ...COMMON_STAT, kind: 'file', mode: 0o600 } as const;

/**
 * A file system in memory for crash tests: runs a workload once, then enumerates the states that a power cut may leave.
 * ```ts
 * for (const state of disk.crashStates()) await check(disk.reboot(state));
 * ```
 */
export class SimulatedDisk implements FileSystem {
  readonly clock: Clock;
  readonly #start: DiskImage;
  readonly #live = new Map<number, LiveFile | LiveFolder>();
  /** Cache of looked up paths. Only a rename of a folder invalidates one, because folder names are not removed. */
  readonly #folders = new Map<string, LiveFolder>();
  readonly #log: DiskEvent[] = [];
  readonly #underWay = new Set<number>();
  readonly #open = new Set<SimulatedFile>();
  #nextInode: number;

  readonly #host: FileHost = {
    nowMs: () => this.clock.nowMs(),
    logged: (event) => this.#logged(event),
    sync: (kind, inode, failed) => this.#sync(kind, inode, failed),
    closed: (file) => void this.#open.delete(file),
  };

  constructor(options: SimulatedDiskOptions = {}) {
    this.clock = options.clock ?? new ManualClock();
    this.#start = options.image ?? DiskImage.withFolders(options.folders ?? []);
    this.#nextInode = this.#start.nextInode;
  }

  /** Number of logged operations: the current crash point. */
  get point(): number {
    return this.#log.length;
  }

  get log(): readonly DiskEvent[] {
    return this.#log;
  }

  /** Paths of files that were opened and not closed. */
  openFiles(): string[] {
    return [...this.#open].map((file) => file.path);
  }

  /** Every file with its bytes as a running process sees them, without counting as a system call: for checks and reports. */
  contents(): Map<string, Uint8Array> {
    const found = new Map<string, Uint8Array>();
    const visit = (folder: LiveFolder, path: string): void => {
      for (const [name, inode] of folder.entries) {
        const child = this.#inode(inode);
        if (child instanceof LiveFolder) visit(child, `${path}/${name}`);
        else found.set(`${path}/${name}`, child.bytes());
      }
    };
    visit(this.#inode(ROOT_INODE) as LiveFolder, '');
    return found;
  }

  /** Every state that a power cut may have left. Stays valid while the disk is used further. */
  crashStates(options: CrashOptions = {}): Generator<CrashState> {
    return crashStates(this.#start, this.#log, options);
  }

  /** The disk after a reboot in one of those states. */
  reboot(state: CrashState, clock: Clock = this.clock): SimulatedDisk {
    return new SimulatedDisk({ image: state.toImage(), clock });
  }

  /** A power cut now: none or all of the unsynced changes survive. */
  powerCut(keep: 'nothing' | 'everything' = 'nothing', clock: Clock = this.clock): SimulatedDisk {
    return new SimulatedDisk({ image: this.#imageAt(this.point).settled(keep), clock });
  }

  /** The process died after `point` operations, the machine did not: everything is readable, and still volatile. */
  killedAt(point: number, clock: Clock = this.clock): SimulatedDisk {
    return new SimulatedDisk({ image: this.#imageAt(point).clone(point), clock });
  }

  #imageAt(point: number): DiskImage {
    const image = this.#start.clone();
    for (let id = 0; id < point; id++) image.apply(this.#log[id]!, id);
    return image;
  }

  async open(path: string, mode: OpenMode): Promise<OpenFile> {
    const file = mode === 'create' ? await this.#create(path) : this.#existing(path);
    const opened = new SimulatedFile(this.#host, file, path, mode !== 'read');
    this.#open.add(opened);
    return opened;
  }

  async rename(from: string, to: string): Promise<void> {
    const source = this.#parent(from, 'rename');
    const target = this.#parent(to, 'rename');
    const inode = this.#entry(source, from, 'rename');
    const replaced = target.folder.entries.get(target.name);
    if (replaced === inode) return;
    this.#checkReplace(inode, replaced, to);
    if (this.#inode(inode) instanceof LiveFolder) this.#folders.clear();
    source.folder.entries.delete(source.name);
    target.folder.entries.set(target.name, inode);
    const places = { fromFolder: source.folder.inode, fromName: source.name };
    await this.#logged({
      kind: 'rename',
      ...places,
      toFolder: target.folder.inode,
      toName: target.name,
      inode,
    });
  }

  async link(existing: string, name: string): Promise<void> {
    const inode = this.#entry(this.#parent(existing, 'link'), existing, 'link');
    if (this.#inode(inode) instanceof LiveFolder) throw new DiskError('EPERM', 'link', existing);
    await this.#add('link', this.#parent(name, 'link'), name, inode);
  }

  async unlink(path: string): Promise<void> {
    const { folder, name } = this.#parent(path, 'unlink');
    const inode = this.#entry({ folder, name }, path, 'unlink');
    if (this.#inode(inode) instanceof LiveFolder) throw new DiskError('EISDIR', 'unlink', path);
    folder.entries.delete(name);
    await this.#logged({ kind: 'unlink', folder: folder.inode, name, inode });
  }

  async makeFolder(path: string): Promise<void> {
    const place = this.#parent(path, 'mkdir');
    const inode = this.#nextInode;
    const added = this.#add('make-folder', place, path, inode);
    this.#live.set(inode, new LiveFolder(inode));
    this.#nextInode++;
    await added;
  }

  async list(path: string): Promise<string[]> {
    return [...this.#folder(path, 'scandir').entries.keys()];
  }

  async stat(path: string): Promise<FileStat | null> {
    const found = this.#find(path);
    if (!found) return null;
    if (found instanceof LiveFolder) return { ...FOLDER_STAT, inode: found.inode };
    const { size: sizeBytes, modifiedMs, inode } = found;
    return { ...FILE_STAT, sizeBytes, modifiedMs, changedMs: modifiedMs, inode };
  }

  async syncFolder(path: string): Promise<void> {
    await this.#sync('sync-folder', this.#folder(path, 'fsync').inode, false);
  }

  async touch(path: string, modifiedMs: number): Promise<void> {
    const found = this.#find(path);
    if (!found) throw new DiskError('ENOENT', 'utime', path);
    if (!(found instanceof LiveFile)) return;
    found.modifiedMs = modifiedMs;
    await this.#logged({ kind: 'touch', inode: found.inode, modifiedMs });
  }

  /** Modes are not simulated. */
  async setMode(path: string): Promise<void> {
    if (!this.#find(path)) throw new DiskError('ENOENT', 'chmod', path);
  }

  /** Links are not simulated, so an existing path is its own real path. */
  async realPath(path: string): Promise<string> {
    if (!this.#find(path)) throw new DiskError('ENOENT', 'realpath', path);
    return path;
  }

  /** As `SimulatedFile.loseUnsynced`, for the names in a folder. */
  async loseUnsyncedNames(path: string): Promise<void> {
    await this.#sync('sync-folder', this.#folder(path, 'fsync').inode, true);
  }

  async #create(path: string): Promise<LiveFile> {
    const place = this.#parent(path, 'open');
    const file = new LiveFile(this.#nextInode, undefined, this.clock.nowMs());
    const added = this.#add('create', place, path, file.inode);
    this.#live.set(file.inode, file);
    this.#nextInode++;
    await added;
    return file;
  }

  #existing(path: string): LiveFile {
    const found = this.#find(path);
    if (!found) throw new DiskError('ENOENT', 'open', path);
    if (found instanceof LiveFolder) throw new DiskError('EISDIR', 'open', path);
    return found;
  }

  #add(
    kind: 'create' | 'link' | 'make-folder',
    place: { readonly folder: LiveFolder; readonly name: string },
    path: string,
    inode: number,
  ): Promise<void> {
    if (place.folder.entries.has(place.name)) throw new DiskError('EEXIST', kind, path);
    place.folder.entries.set(place.name, inode);
    return this.#logged({
      kind,
      folder: place.folder.inode,
      name: place.name,
      inode,
      atMs: this.clock.nowMs(),
    });
  }

  #checkReplace(inode: number, replaced: number | undefined, to: string): void {
    if (replaced === undefined) return;
    const moved = this.#inode(inode);
    const old = this.#inode(replaced);
    if (old instanceof LiveFolder) {
      if (!(moved instanceof LiveFolder)) throw new DiskError('EISDIR', 'rename', to);
      if (old.entries.size > 0) throw new DiskError('ENOTEMPTY', 'rename', to);
    } else if (moved instanceof LiveFolder) throw new DiskError('ENOTDIR', 'rename', to);
  }

  async #logged(event: DiskEvent): Promise<void> {
    const id = this.#log.push(event) - 1;
    this.#underWay.add(id);
    await null;
    this.#underWay.delete(id);
  }

  /** Takes effect when it resolves, for everything that had resolved when it was called. */
  async #sync(kind: 'datasync' | 'sync-folder', inode: number, failed: boolean): Promise<void> {
    const before = this.#log.length;
    const except = [...this.#underWay];
    await null;
    this.#log.push({ kind, inode, before, except, failed });
  }

  #inode(inode: number): LiveFile | LiveFolder {
    const known = this.#live.get(inode);
    if (known) return known;
    const file = this.#start.files.get(inode);
    const made = file
      ? new LiveFile(inode, file.visible(), file.modifiedMs)
      : new LiveFolder(inode, this.#start.folders.get(inode)!.visible());
    this.#live.set(inode, made);
    return made;
  }

  #find(path: string): LiveFile | LiveFolder | undefined {
    const slash = path.lastIndexOf('/');
    const parent = this.#folders.get(path.slice(0, slash));
    if (!parent || slash === path.length - 1) return this.#walk(path);
    const child = parent.entries.get(path.slice(slash + 1));
    return child === undefined ? undefined : this.#inode(child);
  }

  #walk(path: string): LiveFile | LiveFolder | undefined {
    let found = this.#inode(ROOT_INODE);
    for (const name of path.split('/')) {
      if (name === '') continue;
      const child = found instanceof LiveFolder ? found.entries.get(name) : undefined;
      if (child === undefined) return undefined;
      found = this.#inode(child);
    }
    return found;
  }

  #folder(path: string, syscall: string): LiveFolder {
    const known = this.#folders.get(path);
    if (known) return known;
    const found = this.#walk(path);
    if (!found) throw new DiskError('ENOENT', syscall, path);
    if (!(found instanceof LiveFolder)) throw new DiskError('ENOTDIR', syscall, path);
    this.#folders.set(path, found);
    return found;
  }

  #parent(path: string, syscall: string): { readonly folder: LiveFolder; readonly name: string } {
    const slash = path.lastIndexOf('/');
    return { folder: this.#folder(path.slice(0, slash), syscall), name: path.slice(slash + 1) };
  }

  #entry(
    place: { readonly folder: LiveFolder; readonly name: string },
    path: string,
    syscall: string,
  ): number {
    const inode = place.folder.entries.get(place.name);
    if (inode === undefined) throw new DiskError('ENOENT', syscall, path);
    return inode;
  }
}
