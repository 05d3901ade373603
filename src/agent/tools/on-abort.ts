/** Calls `listener` when the signal aborts. The returned function takes it away again: signals outlive what listens to them. */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  if (signal.aborted) listener();
  else signal.addEventListener('abort', listener, { once: true });
  return () => signal.removeEventListener('abort', listener);
}
