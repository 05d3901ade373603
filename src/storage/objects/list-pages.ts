/** Reads lists that come in pages: the complete list, or an error. */
import { RequestFailure } from './request-failure.js';

export interface ListPage<T> {
  readonly entries: readonly T[];
  /** The token of the next page; undefined at the end. */
  readonly next: string | undefined;
}

export async function allPages<T>(page: (token: string | undefined) => Promise<ListPage<T>>): Promise<T[]> {
  const found: T[] = [];
  let token: string | undefined;
  do {
    const { entries, next } = await page(token);
    for (const entry of entries) found.push(entry);
    token = next;
  } while (token !== undefined);
  return found;
}

/** @param before the token of this page. @throws RequestFailure for a list that would be cut off, or would never end */
export function nextPage(
  more: boolean,
  token: string | undefined,
  before: string | undefined,
): string | undefined {
  if (!more) return undefined;
  if (!token || token === before) throw new RequestFailure('the list does not say where it goes on.');
  return token;
}
