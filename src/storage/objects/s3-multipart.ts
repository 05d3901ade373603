/** Uploads a large object in parts: the object appears only when all parts are there. */
import type { CompletedPart } from '@aws-sdk/client-s3';
import type { S3Call, S3Session } from './s3-session.js';

export interface S3Target {
  readonly Bucket: string;
  readonly Key: string;
}

interface S3Upload extends S3Target {
  readonly UploadId: string | undefined;
}

/** Limit of S3. */
const PARTS_MAX = 10_000;
const AT_ONCE = 4;

/** If it fails, the upload is aborted. If that request fails too, a lifecycle rule of the bucket should remove the parts. */
export async function putInParts(
  session: S3Session,
  target: S3Target,
  bytes: Uint8Array,
  partBytes: number,
): Promise<void> {
  const request = { operation: 'put', name: target.Key };
  const UploadId = await session.call(request, async ({ s3, client, signal }) => {
    const begun = await client.send(new s3.CreateMultipartUploadCommand(target), { abortSignal: signal });
    return begun.UploadId;
  });
  const upload = { ...target, UploadId };
  try {
    const Parts = await sendParts(session, upload, bytes, partBytes);
    await session.call(request, ({ s3, client, signal }) =>
      client.send(new s3.CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }), {
        abortSignal: signal,
      }),
    );
  } catch (thrown) {
    await giveUp(session, upload).catch(() => {}); // the first error is the one to report
    throw thrown;
  }
}

/** Tried once: with an unreachable server, more tries would only double the time until the failure. */
async function giveUp(session: S3Session, upload: S3Upload): Promise<void> {
  const request = { operation: 'give up the put of', name: upload.Key };
  const send = ({ s3, client, signal }: S3Call) =>
    client.send(new s3.AbortMultipartUploadCommand(upload), { abortSignal: signal });
  await session.call(request, send, { attempts: 1 });
}

/**
 * Sends several parts at a time. All started requests have ended before it rejects, so none arrives after the upload
 * was aborted.
 */
async function sendParts(
  session: S3Session,
  upload: S3Upload,
  bytes: Uint8Array,
  partBytes: number,
): Promise<CompletedPart[]> {
  const size = Math.max(partBytes, Math.ceil(bytes.length / PARTS_MAX));
  const count = Math.ceil(bytes.length / size);
  const parts: CompletedPart[] = [];
  for (let first = 0; first < count; first += AT_ONCE) {
    const group = Array.from({ length: Math.min(AT_ONCE, count - first) }, (_, index) => first + index);
    const results = await Promise.allSettled(
      group.map((index) =>
        sendPart(session, upload, index + 1, bytes.subarray(index * size, (index + 1) * size)),
      ),
    );
    for (const result of results) {
      if (result.status === 'rejected') throw result.reason;
      parts.push(result.value);
    }
  }
  return parts;
}

function sendPart(
  session: S3Session,
  upload: S3Upload,
  PartNumber: number,
  Body: Uint8Array,
): Promise<CompletedPart> {
  const request = { operation: 'put', name: upload.Key };
  const send = async ({ s3, client, signal }: S3Call) => {
    const command = new s3.UploadPartCommand({ ...upload, PartNumber, Body });
    const { ETag, ChecksumCRC32 } = await client.send(command, { abortSignal: signal });
    return { PartNumber, ETag, ChecksumCRC32 };
  };
  return session.call(request, send, { uploadBytes: Body.length });
}
