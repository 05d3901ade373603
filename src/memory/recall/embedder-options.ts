import type { EmbedderOptions } from './embedder.js';

/** The part of some options that searches need. */
export function embedderOptions(options: EmbedderOptions | null | undefined): EmbedderOptions {
  const { embedder, embedderTimeoutMs } = options ?? {};
  return {
    ...(embedder ? { embedder } : {}),
    ...(embedderTimeoutMs === undefined ? {} : { embedderTimeoutMs }),
  };
}
