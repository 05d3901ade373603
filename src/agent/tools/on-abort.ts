/**
 * Calls `listener` when the signal aborts. Returns a function that removes it, because signals outlive their
 * listeners.
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  if (signal.aborted) listener();
  else signal.addEventListener('abort', listener, { once: true });
  return () => signal.removeEventListener('abort', listener);
}
