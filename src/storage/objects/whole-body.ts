/** Reads a complete response body; an incomplete one is a failure that is retried. */
import { RequestFailure } from './request-failure.js';
import type { Attempt } from './retry-policy.js';

/** @param announced the length that the server announced; undefined if it announced none */
export async function wholeBody(
  chunks: AsyncIterable<Uint8Array>,
  announced: number | undefined,
  { heard }: Attempt,
): Promise<Buffer> {
  const received: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    heard();
    received.push(chunk);
    size += chunk.length;
    if (announced !== undefined && size > announced) break;
  }
  if (announced !== undefined && size !== announced)
    throw new RequestFailure(`the body had ${size} bytes, not the ${announced} announced.`);
  return Buffer.concat(received, size);
}
