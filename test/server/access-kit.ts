/** Every address of the server, and what a refusal has to look like. */
import { expect } from 'vitest';
import type { JsonObject } from '../../src/core/json.js';
import { PAGE_HEADERS } from '../../src/server/dashboard/dashboard-assets.js';
import { allRoutes } from '../../src/server/http/routes/all-routes.js';
import { type Answer, type Asked, folderPrint, PROBLEM_TYPE, type ServerKit } from './server-kit.js';

export interface Place {
  readonly method: string;
  readonly target: string;
  readonly needsToken: boolean;
  /** What a body has to be; null for none. */
  readonly mediaType: string | null;
}

export const places: readonly Place[] = [
  ...allRoutes.map(({ method, path, needsToken, body }) => ({
    method,
    target: path
      .replace('{id}', 'root')
      .replace('{key}', 'k')
      .replace('{to}', 'root@1')
      .replace('{turn}', '1'),
    needsToken: needsToken !== false,
    mediaType: body?.mediaType ?? null,
  })),
  { method: 'GET', target: '/', needsToken: false, mediaType: null },
  { method: 'GET', target: '/page/app.js', needsToken: false, mediaType: null },
  { method: 'POST', target: '/mcp', needsToken: true, mediaType: null },
];
export const writing = places.filter(({ mediaType }) => mediaType !== null);

export function expectRefused(answer: Answer, status: number, reason: string, what: string): void {
  const given = answer.json['details'] as JsonObject | undefined;
  expect([what, answer.status, given?.['reason']]).toEqual([what, status, reason]);
  expect([what, answer.headers['content-type'], answer.json['code']]).toEqual([
    what,
    PROBLEM_TYPE,
    'REQUEST_REFUSED',
  ]);
  expectSafe(answer, what);
}

/** The headers of every answer, and none that lets another site read it. */
export function expectSafe({ headers }: Answer, what: string): void {
  for (const [name, value] of Object.entries(PAGE_HEADERS))
    expect([what, name, headers[name.toLowerCase()]]).toEqual([what, name, value]);
  expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
}

/** Asks every place the same, and looks at the folder before and after. */
export async function sweep(
  kit: ServerKit,
  among: readonly Place[],
  asked: (place: Place) => Asked,
  look: (answer: Answer, place: Place, what: string) => void,
): Promise<void> {
  const before = await folderPrint(kit.dir);
  for (const place of among) {
    const { method, target } = place;
    look(await kit.call(method, target, asked(place)), place, `${method} ${target}`);
  }
  expect(await folderPrint(kit.dir)).toEqual(before);
}

export function withBody({ method, mediaType }: Place, headers: Record<string, string | null>): Asked {
  const body = method === 'GET' || method === 'DELETE' ? {} : { body: { value: 1 } };
  return { ...body, headers: { ...(mediaType === null ? {} : { 'Content-Type': mediaType }), ...headers } };
}
