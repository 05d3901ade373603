/** Checks base64 and data URLs in a request without decoding them. */

export interface DataUrl {
  readonly mime: string;
  readonly base64: boolean;
  readonly data: string;
}

const HEAD_MAX = 200;

/** Parses only the head: the data may be megabytes. */
export function parseDataUrl(url: string): DataUrl | null {
  const comma = url.slice(0, HEAD_MAX).indexOf(',');
  if (!/^data:/i.test(url) || comma < 0) return null;
  const [mime = '', ...parameters] = url.slice(5, comma).split(';');
  const base64 = parameters.some((parameter) => parameter.trim().toLowerCase() === 'base64');
  return { mime: mime.trim().toLowerCase(), base64, data: url.slice(comma + 1) };
}

export function isWebUrl(url: string): boolean {
  return /^https?:\/\/[^\s/]/i.test(url.slice(0, HEAD_MAX));
}

/** Standard alphabet, padded, not empty. */
export function isBase64(text: string): boolean {
  if (text === '' || text.length % 4 !== 0 || /[^A-Za-z0-9+/=]/.test(text)) return false;
  const padding = text.indexOf('=');
  return padding < 0 || (padding >= text.length - 2 && text.endsWith('='));
}
