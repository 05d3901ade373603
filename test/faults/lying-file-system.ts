/** A planted bug: a file system whose writes claim to be whole when they were short, as the code of many stores believes. */

import { NodeFileSystem } from '../../src/storage/file/node-file-system.js';
import type { OpenFile, OpenMode } from '../../src/storage/file-system.js';

export class LyingFileSystem extends NodeFileSystem {
  override async open(path: string, mode: OpenMode): Promise<OpenFile> {
    const file = await super.open(path, mode);
    return {
      read: (target, position) => file.read(target, position),
      write: async (source, position) => {
        await file.write(source, position).catch(() => {});
        return source.length;
      },
      datasync: () => file.datasync(),
      truncate: (size) => file.truncate(size),
      sizeBytes: () => file.sizeBytes(),
      close: () => file.close(),
    };
  }
}
