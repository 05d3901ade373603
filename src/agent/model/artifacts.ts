/** Loads the artifacts that a list of messages refers to, each once. */
import { isRekindleError } from '../../core/errors.js';
import type { Message } from '../../messages/message.js';

export async function artifactsOf(
  messages: readonly Message[],
  load: (ref: string) => Promise<Uint8Array | null>,
): Promise<Map<string, Uint8Array>> {
  const refs = new Set<string>();
  for (const message of messages) {
    for (const part of message.parts ?? []) {
      if (part.type === 'media' && part.media.ref.startsWith('sha256:')) refs.add(part.media.ref);
    }
  }
  const artifacts = new Map<string, Uint8Array>();
  for (const ref of refs) {
    const bytes = await load(ref).catch(missingWhenDamaged);
    if (bytes) artifacts.set(ref, bytes);
  }
  return artifacts;
}

/**
 * A damaged artifact must not stop the agent: the model reads that it is unavailable, and `verify` reports
 * it.
 */
function missingWhenDamaged(thrown: unknown): null {
  if (isRekindleError(thrown, 'BLOB_DAMAGED')) return null;
  throw thrown;
}
