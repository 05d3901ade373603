/**
 * Decides which media a request carries. Limits apply to the whole request, so the plan covers the whole list. An image
 * that is too large, or one too many, becomes a line of text; the stored list keeps it.
 */
import { toBase64 } from '../../core/bytes.js';
import { imageSizeOf } from '../media-size.js';
import { type Media, type Message, mediaOf } from '../message.js';
import { isInternalUrl } from './internal-url.js';
import { bytesOf, mimeOfUrl } from './media-source.js';
import type { TargetLimits } from './target-limits.js';

export type MediaData =
  | { readonly kind: 'base64'; readonly mime: string; readonly data: string }
  | { readonly kind: 'url'; readonly mime: string; readonly url: string };

export interface SentMedia {
  readonly media: Media;
  readonly data: MediaData;
}

/** Why a media item is not sent. A line of text replaces it. */
export interface OmittedMedia {
  readonly media: Media;
  readonly reason: string;
}

export interface MediaPlan {
  of(media: Media): SentMedia | OmittedMedia;
}

export function isSent(planned: SentMedia | OmittedMedia): planned is SentMedia {
  return 'data' in planned;
}

/** Deterministic: the same media item gives the same line. */
export function placeholderOf({ media, reason }: OmittedMedia): string {
  return `[${media.kind} omitted: ${media.name ? `${media.name}, ` : ''}${reason}]`;
}

interface Candidate extends SentMedia {
  /** Number of occurrences; each is sent and counted. */
  times: number;
  readonly base64Bytes: number;
  readonly side: number | null;
}

type Planned = Map<string, Candidate | OmittedMedia>;

/** @param accepts what the target accepts, by kind and type */
export function planMedia(
  messages: readonly Message[],
  limits: TargetLimits,
  artifacts: ReadonlyMap<string, Uint8Array>,
  accepts: (media: Media, mime: string) => boolean,
): MediaPlan {
  const planned: Planned = new Map();
  for (const media of messages.flatMap(mediaOf)) {
    const known = planned.get(keyOf(media));
    if (!known) planned.set(keyOf(media), candidateOf(media, artifacts, accepts, limits));
    else if (isSent(known)) known.times += 1;
  }
  omitMany(planned, limits);
  omitTooMuch(planned, limits);
  return { of: (media) => planned.get(keyOf(media)) ?? { media, reason: 'not available' } };
}

function keyOf(media: Media): string {
  return `${media.kind} ${media.ref}`;
}

function omit(planned: Planned, candidates: readonly Candidate[], reason: string): void {
  for (const { media } of candidates) planned.set(keyOf(media), { media, reason });
}

function sentOf(planned: Planned): Candidate[] {
  return [...planned.values()].filter((item): item is Candidate => isSent(item));
}

/** If there are more images than the threshold, each has a lower size limit. Beyond the maximum number the oldest are omitted. */
function omitMany(planned: Planned, limits: TargetLimits): void {
  const images = () => sentOf(planned).filter(({ media }) => media.kind === 'image');
  if (countOf(images()) > limits.manyImages) {
    const many = `with more than ${limits.manyImages} images in the request`;
    const large = images().filter(({ side }) => side !== null && side > limits.manyImagesSide);
    omit(planned, large, `longer than ${limits.manyImagesSide} pixels, ${many}`);
    const unknown = images().filter(({ side }) => side === null);
    omit(planned, unknown, `of unknown size, ${many}`);
  }
  let over = countOf(images()) - limits.images;
  for (const image of images()) {
    if (over <= 0) return;
    omit(planned, [image], `more than ${limits.images} images in the request`);
    over -= image.times;
  }
}

function countOf(candidates: readonly Candidate[]): number {
  return candidates.reduce((sum, { times }) => sum + times, 0);
}

/** Omits the oldest media until the rest fits. */
function omitTooMuch(planned: Planned, limits: TargetLimits): void {
  const sizeOf = ({ base64Bytes, times }: Candidate) => base64Bytes * times;
  let left = sentOf(planned).reduce((sum, candidate) => sum + sizeOf(candidate), 0);
  for (const candidate of sentOf(planned)) {
    if (left <= limits.mediaBase64Bytes) return;
    if (candidate.base64Bytes === 0) continue;
    omit(planned, [candidate], `more than ${limits.mediaBase64Bytes} bytes of media in the request`);
    left -= sizeOf(candidate);
  }
}

/**
 * The provider fetches the URL, or the SDK does so inside the host's network. Untrusted text must not send either to
 * such an address.
 */
const INTERNAL = 'its address is one of an internal network';

function candidateOf(
  media: Media,
  artifacts: ReadonlyMap<string, Uint8Array>,
  accepts: (media: Media, mime: string) => boolean,
  limits: TargetLimits,
): Candidate | OmittedMedia {
  const found = bytesOf(media, artifacts);
  const omitted = (reason: string): OmittedMedia => ({ media, reason });
  const declared = declaredFault(media, limits);
  if (declared) return omitted(declared);
  if (found === null && isInternalUrl(media.ref)) return omitted(INTERNAL);
  if (found === null)
    return urlCandidate(media, accepts, limits) ?? omitted(`not available (${shortRef(media.ref)})`);
  const { mime } = found;
  if (!accepts(media, mime)) return omitted(`the type ${mime} is not taken here`);
  const base64Bytes = Math.ceil(found.bytes.length / 3) * 4;
  const size = media.kind === 'image' ? imageSizeOf(found.bytes) : null;
  const side = size ? Math.max(size.width, size.height) : sideOf(media);
  const fault = media.kind === 'image' ? imageFault(base64Bytes, side, limits) : null;
  if (fault) return omitted(fault);
  const data = toBase64(found.bytes);
  return { media, data: { kind: 'base64', mime, data }, times: 1, base64Bytes, side };
}

/** Facts that the list itself gives about an image, even if its bytes are not available. */
function declaredFault(media: Media, limits: TargetLimits): string | null {
  if (media.kind !== 'image') return null;
  return imageFault(media.bytes === undefined ? 0 : Math.ceil(media.bytes / 3) * 4, sideOf(media), limits);
}

function imageFault(base64Bytes: number, side: number | null, limits: TargetLimits): string | null {
  if (base64Bytes > limits.imageBase64Bytes) return `larger than ${limits.imageBase64Bytes} bytes as base64`;
  return side !== null && side > limits.imageSide ? `longer than ${limits.imageSide} pixels` : null;
}

function sideOf(media: Media): number | null {
  const side = Math.max(media.width ?? 0, media.height ?? 0);
  return side > 0 ? side : null;
}

function urlCandidate(
  media: Media,
  accepts: (media: Media, mime: string) => boolean,
  limits: TargetLimits,
): Candidate | null {
  const mime = mimeOfUrl(media);
  if (!limits.mediaUrl.test(media.ref) || !URL.canParse(media.ref) || !accepts(media, mime)) return null;
  return {
    media,
    data: { kind: 'url', mime, url: media.ref },
    times: 1,
    base64Bytes: 0,
    side: sideOf(media),
  };
}

function shortRef(ref: string): string {
  return ref.length > 40 ? `${ref.slice(0, 40).toWellFormed()}…` : ref;
}
