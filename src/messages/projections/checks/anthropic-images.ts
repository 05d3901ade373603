/** Checks the images of an Anthropic request: where they may be, their types, their number, and their sizes. */
import { fromBase64 } from '../../../core/bytes.js';
import { imageSizeOf } from '../../media-size.js';
import type { PlacedBlock, Turn } from './anthropic-turns.js';
import { fieldOf, isFilledText, listOf, quote, type Report } from './request-check.js';
import { isBase64, isWebUrl } from './request-media.js';

export interface AnthropicImageLimits {
  readonly imagesPerRequest: number;
  /** Bytes of one image as it is sent. */
  readonly imageBase64Bytes: number;
  /** Longer side in pixels. */
  readonly imageSide: number;
  /** Longer side in pixels if there are more than `manyImages` images. */
  readonly imageSideOfMany: number;
  readonly manyImages: number;
}

const LIMITS: AnthropicImageLimits = {
  imagesPerRequest: 100,
  imageBase64Bytes: 5 * 1024 * 1024,
  imageSide: 8000,
  imageSideOfMany: 2000,
  manyImages: 20,
};
const TYPES = new Set<unknown>(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

interface PlacedImage {
  readonly source: unknown;
  readonly path: string;
}

export function checkAnthropicImages(
  turns: readonly Turn[],
  options: Partial<AnthropicImageLimits>,
  report: Report,
): void {
  const limits = { ...LIMITS, ...options };
  const images = turns.flatMap((turn) => turn.blocks.flatMap((placed) => imagesOf(turn, placed, report)));
  if (images.length > limits.imagesPerRequest) {
    const reason = `The request holds ${images.length} images, more than ${limits.imagesPerRequest}.`;
    report('anthropic/3.15', 'messages', reason);
  }
  const side = images.length > limits.manyImages ? limits.imageSideOfMany : limits.imageSide;
  for (const { source, path } of images) {
    const problem = sourceProblem(source, limits.imageBase64Bytes, side);
    if (problem !== null) report('anthropic/3.15', path, problem);
  }
}

function imagesOf(turn: Turn, { block, type, path }: PlacedBlock, report: Report): PlacedImage[] {
  if (type === 'image' && turn.role === 'assistant') {
    report('anthropic/3.15', path, 'An image may not be in an assistant message.');
    return [];
  }
  if (type === 'image') return [{ source: fieldOf(block, 'source'), path }];
  if (type !== 'tool_result') return [];
  return listOf(fieldOf(block, 'content')).flatMap((inner, i) =>
    fieldOf(inner, 'type') === 'image'
      ? [{ source: fieldOf(inner, 'source'), path: `${path}/content/${i}` }]
      : [],
  );
}

function sourceProblem(source: unknown, bytesMax: number, sideMax: number): string | null {
  switch (fieldOf(source, 'type')) {
    case 'base64':
      return base64Problem(fieldOf(source, 'media_type'), fieldOf(source, 'data'), bytesMax, sideMax);
    case 'url': {
      const url = fieldOf(source, 'url');
      return typeof url === 'string' && isWebUrl(url) ? null : 'The image has no web address.';
    }
    case 'file':
      return isFilledText(fieldOf(source, 'file_id')) ? null : 'The image names no file.';
    default:
      return 'The source of the image is not known.';
  }
}

function base64Problem(type: unknown, data: unknown, bytesMax: number, sideMax: number): string | null {
  if (!TYPES.has(type)) return `The image type ${quote(type)} is none of JPEG, PNG, GIF and WebP.`;
  if (typeof data !== 'string' || !isBase64(data)) return 'The data of the image are not Base64.';
  if (data.length > bytesMax) return `The image has ${data.length} bytes in Base64, more than ${bytesMax}.`;
  const size = imageSizeOf(fromBase64(data));
  if (size === null || Math.max(size.width, size.height) <= sideMax) return null;
  return `The image is ${size.width} × ${size.height} pixels; a side may have ${sideMax}.`;
}
