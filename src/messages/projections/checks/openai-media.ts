/** Checks images as both OpenAI APIs accept them: a web address, or a data URL of one of four image types. */
import { isBase64, isWebUrl, parseDataUrl } from './request-media.js';

const IMAGE_TYPES = new Set(['image/png', 'image/jpeg', 'image/webp', 'image/gif']);

/** @returns what is wrong with the URL of an image, or null. */
export function imageUrlProblem(url: unknown): string | null {
  if (typeof url !== 'string') return 'The URL of the image is missing.';
  const data = parseDataUrl(url);
  if (!data) return isWebUrl(url) ? null : 'The image is neither a web address nor a data URL.';
  if (!IMAGE_TYPES.has(data.mime)) return 'The image is none of PNG, JPEG, WebP and GIF.';
  return data.base64 && isBase64(data.data) ? null : 'The data of the image are not Base64.';
}
