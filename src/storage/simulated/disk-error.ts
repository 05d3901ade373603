/** The errors of the simulated disk and the fault wrapper: an error with a `code`, as in `node:fs`. */
export class DiskError extends Error {
  readonly code: string;
  readonly syscall: string;
  readonly path: string;

  constructor(code: string, syscall: string, path: string) {
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0; // probing for files is common, and stack traces would cost more than the whole simulation
    super(`${code}: ${syscall} '${path}'`);
    Error.stackTraceLimit = limit;
    this.name = 'DiskError';
    this.code = code;
    this.syscall = syscall;
    this.path = path;
  }
}
