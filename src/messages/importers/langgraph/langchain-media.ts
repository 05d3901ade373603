/** Images, audio and files in LangChain messages: both generations of LangChain's own blocks, and those of the providers. */
import type { JsonObject } from '../../../core/json.js';
import type { ContentPart, Media } from '../../message.js';
import { mediaPartOf } from '../reading/content-parts.js';
import { objectField, textField } from '../reading/record-fields.js';

type Kind = Media['kind'];

const KINDS: ReadonlyMap<unknown, Kind | undefined> = new Map<unknown, Kind | undefined>([
  ['image', 'image'],
  ['audio', 'audio'],
  ['video', 'video'],
  ['file', 'file'],
  ['document', 'file'],
  ['media', undefined], // the kind follows from the media type
]);
const MIMES: ReadonlyMap<Kind | undefined, string> = new Map<Kind | undefined, string>([
  ['image', 'image/png'],
  ['audio', 'audio/wav'],
  ['video', 'video/mp4'],
]);

/** Null for another kind of block, and for a block without bytes, URL or id. */
export function langChainMediaOf(block: JsonObject): ContentPart | null {
  if (block['type'] === 'image_url' || block['type'] === 'input_image') return imageUrl(block);
  if (block['type'] === 'input_audio') return inputAudio(objectField(block, 'input_audio'));
  if (!KINDS.has(block['type'])) return null;
  const kind = KINDS.get(block['type']);
  const inner = { ...block, ...objectField(block, 'file'), ...objectField(block, 'source') };
  const name = textField(inner, 'filename', 'title');
  const ref = refOf(inner, kind);
  return ref === undefined ? null : mediaPartOf(ref, { kind, mime: mimeOf(inner), name });
}

function refOf(inner: JsonObject, kind: Kind | undefined): string | undefined {
  const url = textField(inner, 'url', 'file_uri', 'fileUri');
  if (url !== undefined) return url;
  const data = textField(inner, 'base64', 'data', 'file_data');
  if (data === undefined) return idOf(inner);
  if (data.startsWith('data:')) return data;
  return `data:${mimeOf(inner) ?? MIMES.get(kind) ?? 'application/octet-stream'};base64,${data}`;
}

/** A file that is stored only at the provider. */
function idOf(inner: JsonObject): string | undefined {
  const id =
    textField(inner, 'file_id') ?? (inner['source_type'] === 'id' ? textField(inner, 'id') : undefined);
  return id === undefined ? undefined : `file:${id}`;
}

function mimeOf(inner: JsonObject): string | undefined {
  return textField(inner, 'mime_type', 'mimeType', 'media_type');
}

function imageUrl(block: JsonObject): ContentPart | null {
  const url = textField(block, 'image_url') ?? textField(objectField(block, 'image_url'), 'url');
  return url === undefined ? null : mediaPartOf(url, { kind: 'image' });
}

function inputAudio({ data, format }: JsonObject): ContentPart | null {
  if (typeof data !== 'string') return null;
  const mime = `audio/${typeof format === 'string' ? format : 'wav'}`;
  return mediaPartOf(`data:${mime};base64,${data}`, { kind: 'audio', mime });
}
