/** A property of its place that a file store found and its owner should know. Reported once; nothing fails because of it. */
export interface StorageWarning {
  readonly code: 'REKINDLE_NO_LINKS' | 'REKINDLE_NO_FOLDER_SYNC' | 'REKINDLE_OPEN_TO_ALL';
  readonly place: string;
  readonly message: string;
}

/** Reported the way Node.js does: on standard error, and to listeners of `process.on('warning')`. */
export function emitStorageWarning({ code, message }: StorageWarning): void {
  process.emitWarning(message, { type: 'RekindleWarning', code });
}
