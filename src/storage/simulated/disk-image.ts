/** The whole disk as a crash sees it. Applying the log's events one by one gives the image at each crash point. */
import type { DiskEvent, RenameEvent, SyncEvent } from './disk-event.js';
import { FileImage } from './file-image.js';
import { FolderImage } from './folder-image.js';

export const ROOT_INODE = 1;

export class DiskImage {
  readonly files = new Map<number, FileImage>();
  readonly folders = new Map<number, FolderImage>();
  nextInode = ROOT_INODE + 1;

  /** An empty disk with these durable folders. */
  static withFolders(paths: readonly string[]): DiskImage {
    const image = new DiskImage();
    image.folders.set(ROOT_INODE, new FolderImage(new Map()));
    for (const path of paths) image.#addFolder(path);
    return image;
  }

  apply(event: DiskEvent, id: number): void {
    switch (event.kind) {
      case 'write':
      case 'truncate':
        this.files.get(event.inode)!.record(event, id);
        return;
      case 'datasync':
        this.files.get(event.inode)!.sync(event);
        return;
      case 'sync-folder':
        this.#syncFolder(event);
        return;
      case 'touch':
        this.#touch(event.inode, event.modifiedMs);
        return;
      case 'rename':
        this.#rename(event, id);
        return;
      case 'unlink':
        this.#folder(event.folder).record({ ...event, kind: 'remove' }, id, `unlink ${event.name}`);
        return;
      default: {
        const { folder, name, inode } = event;
        if (event.kind === 'make-folder') this.folders.set(inode, new FolderImage(new Map()));
        if (event.kind === 'create') this.files.set(inode, new FileImage(new Uint8Array(0), event.atMs));
        this.nextInode = Math.max(this.nextInode, inode + 1);
        this.#folder(folder).record({ kind: 'add', name, inode }, id, `${event.kind} ${name}`);
      }
    }
  }

  /** An independent copy. Its operations get ids below 0, so that a new log can count from 0. */
  clone(shift = 0): DiskImage {
    const copy = new DiskImage();
    for (const [inode, file] of this.files) copy.files.set(inode, file.clone(shift));
    for (const [inode, folder] of this.folders) copy.folders.set(inode, folder.clone(shift));
    copy.nextInode = this.nextInode;
    return copy;
  }

  /** The disk after a power cut that kept none or all of the changes that were not durable. All of it is durable then. */
  settled(keep: 'nothing' | 'everything'): DiskImage {
    const all = keep === 'everything';
    const image = new DiskImage();
    for (const [inode, file] of this.files) {
      image.files.set(inode, new FileImage(all ? file.visible() : file.durable(), file.modifiedMs));
    }
    for (const [inode, folder] of this.folders) {
      image.folders.set(inode, new FolderImage(all ? folder.visible() : folder.durable()));
    }
    image.nextInode = this.nextInode;
    return image;
  }

  #folder(inode: number): FolderImage {
    return this.folders.get(inode)!;
  }

  #syncFolder(event: SyncEvent): void {
    for (const half of this.#folder(event.inode).sync(event)) this.#folder(half.folder).settle(half.id);
  }

  #touch(inode: number, modifiedMs: number): void {
    const file = this.files.get(inode);
    if (file) file.modifiedMs = modifiedMs;
  }

  #rename(event: RenameEvent, id: number): void {
    const { fromFolder, fromName, toFolder, toName, inode } = event;
    const label = `rename ${fromName} to ${toName}`;
    if (fromFolder === toFolder) {
      this.#folder(toFolder).record({ kind: 'move', from: fromName, name: toName, inode }, id, label);
      return;
    }
    this.#folder(toFolder).record({ kind: 'place', name: toName, inode }, id, `${label} (target)`);
    const source = { kind: 'remove', name: fromName, inode, placedIn: toFolder } as const;
    this.#folder(fromFolder).record(source, id, `${label} (source)`);
  }

  #addFolder(path: string): void {
    let parent = ROOT_INODE;
    for (const name of path.split('/').filter((part) => part !== '')) {
      const known = this.#folder(parent).base.get(name);
      const inode = known ?? this.nextInode++;
      if (known === undefined) {
        this.#folder(parent).base = new Map(this.#folder(parent).base).set(name, inode);
        this.folders.set(inode, new FolderImage(new Map()));
      }
      parent = inode;
    }
  }
}
