/** A large object in parts: nothing has its name before all of them are there. */
import type { CompletedPart } from '@aws-sdk/client-s3';
import type { S3Call, S3Session } from './s3-session.js';

export interface S3Target {
  readonly Bucket: string;
  readonly Key: string;
}

interface S3Upload extends S3Target {
  readonly UploadId: string | undefined;
}

/** What S3 allows. */
const PARTS_MAX = 10_000;
const AT_ONCE = 4;

/** When it fails, the parts are given up; what that request cannot reach, a lifecycle rule of the bucket clears. */
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
    await giveUp(session, upload).catch(() => {}); // the first error is the one to tell
    throw thrown;
  }
}

/** Tried once: a server that is not there would only make the failure take twice as long. */
async function giveUp(session: S3Session, upload: S3Upload): Promise<void> {
  const request = { operation: 'give up the put of', name: upload.Key };
  const send = ({ s3, client, signal }: S3Call) =>
    client.send(new s3.AbortMultipartUploadCommand(upload), { abortSignal: signal });
  await session.call(request, send, { attempts: 1 });
}

/** Some at once. All that were begun have ended before it rejects, so that none arrives after the upload was given up. */
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
