/** What a file store found about its place that its owner should know: told once, and nothing fails because of it. */
export interface StorageWarning {
  readonly code: 'REKINDLE_NO_LINKS' | 'REKINDLE_NO_FOLDER_SYNC' | 'REKINDLE_OPEN_TO_ALL';
  readonly place: string;
  readonly message: string;
}

/** As Node.js tells of such things: on standard error, and to listeners of `process.on('warning')`. */
export function emitStorageWarning({ code, message }: StorageWarning): void {
  process.emitWarning(message, { type: 'RekindleWarning', code });
}
