/**
 * The sealed form of bytes: one JSON document with a block per line, so that the end can be replaced without sealing the rest again.
 *
 *     {"sealed":1,"key":"0f1e2d3c4b5a6978","blocks":[
 *     "base64 of nonce, ciphertext and tag",
 *     "..."
 *     ]}
 *
 * Every block but the last holds `BLOCK_BYTES`. A block is bound to its document, its number, and whether it is the last one, so that
 * changed, moved, added and missing blocks are detected.
 */
import { canonicalJson } from '../../core/canonical-json.js';
import { isJsonObject, type JsonObject, type JsonValue, tryParseJson } from '../../core/json.js';
import type { Name } from '../ports.js';
import { open, SEAL_BYTES, seal } from './aes-seal.js';
import type { DataKey } from './data-keys.js';

/** With the 28 bytes of a seal this is a multiple of 3, so that every whole block has the same length in base64. */
export const BLOCK_BYTES = 4 * 1024 - SEAL_BYTES + 2;
const BLOCK_TEXT_BYTES = ((BLOCK_BYTES + SEAL_BYTES) / 3) * 4 + 2;
const SEPARATOR = ',\n';
const END = '\n]}\n';

export interface SealedBlocks {
  readonly key: string;
  readonly blocks: readonly string[];
}

/** Null if the value is not a sealed document. */
export function sealedBlocksOf(value: JsonValue | undefined): SealedBlocks | null {
  if (!isJsonObject(value) || value['sealed'] !== 1) return null;
  const { key, blocks } = value as JsonObject;
  if (typeof key !== 'string' || !Array.isArray(blocks) || blocks.length === 0) return null;
  return blocks.every((block) => typeof block === 'string') ? { key, blocks: blocks as string[] } : null;
}

export function parseSealed(bytes: Uint8Array): SealedBlocks | null {
  return sealedBlocksOf(
    tryParseJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')),
  );
}

export function sealedValue(key: DataKey, name: Name, plain: Uint8Array): JsonObject {
  return { sealed: 1, key: key.id, blocks: sealBlocks(key, name, plain, 0) };
}

/** The whole document as bytes. */
export function sealedBytes(key: DataKey, name: Name, plain: Uint8Array): Buffer {
  const blocks = sealBlocks(key, name, plain, 0).map((block) => `"${block}"`);
  return Buffer.from(`${head(key)}${blocks.join(SEPARATOR)}${END}`);
}

/** Where block number `first` begins in `sealedBytes`, and the bytes from there for a plain text that ends with `plain`. */
export function sealedTail(
  key: DataKey,
  name: Name,
  first: number,
  plain: Uint8Array,
): { readonly offset: number; readonly bytes: Buffer } {
  const blocks = sealBlocks(key, name, plain, first).map((block) => `"${block}"`);
  const offset = Buffer.byteLength(head(key)) + first * (BLOCK_TEXT_BYTES + SEPARATOR.length);
  return { offset, bytes: Buffer.from(`${blocks.join(SEPARATOR)}${END}`) };
}

/** Null if anything was changed, or another key or name sealed it. */
export function openBlocks(key: DataKey, name: Name, { blocks }: SealedBlocks): Buffer | null {
  const derived = key.for(useOf(name));
  const plain: Buffer[] = [];
  for (const [index, block] of blocks.entries()) {
    const isLast = index === blocks.length - 1;
    const opened = open(derived, Buffer.from(block, 'base64'), boundTo(index, isLast));
    if (!opened || (!isLast && opened.length !== BLOCK_BYTES)) return null;
    plain.push(opened);
  }
  return Buffer.concat(plain);
}

function sealBlocks(key: DataKey, name: Name, plain: Uint8Array, first: number): string[] {
  const derived = key.for(useOf(name));
  const count = Math.max(1, Math.ceil(plain.length / BLOCK_BYTES));
  return Array.from({ length: count }, (_, index) => {
    const block = plain.subarray(index * BLOCK_BYTES, (index + 1) * BLOCK_BYTES);
    return seal(derived, block, boundTo(first + index, index === count - 1)).toString('base64');
  });
}

/** Whether the bytes have the layout of `sealedBytes`: `write` of a store may lay the same JSON out in another way. */
export function isLaidOut(key: DataKey, bytes: Uint8Array): boolean {
  const start = Buffer.from(head(key));
  return start.equals(bytes.subarray(0, start.length));
}

function head(key: DataKey): string {
  return `{"sealed":1,"key":"${key.id}","blocks":[\n`;
}

function useOf(name: Name): string {
  return canonicalJson(['document', [...name]]);
}

/** The key is the name's own, so the name need not be here. */
function boundTo(index: number, isLast: boolean): string {
  return canonicalJson(['block', index, isLast]);
}
