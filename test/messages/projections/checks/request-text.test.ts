import { describe, expect, it } from 'vitest';
import { violationsOf } from '../../../../src/messages/projections/checks/request-check.js';
import { checkText } from '../../../../src/messages/projections/checks/request-text.js';

function walk(request: unknown): { bytes: number; paths: string[] } {
  let bytes = 0;
  const violations = violationsOf((report) => {
    bytes = checkText(request, 'anthropic/3.16', report);
  });
  return { bytes, paths: violations.map(({ path }) => path) };
}

describe('the walk over the texts of a request', () => {
  it('counts the bytes of texts and keys', () => {
    expect(walk({ ab: ['é', 1, null, { c: '👀' }] }).bytes).toBe(2 + 2 + 1 + 4);
  });

  it('finds halves of surrogate pairs in texts and keys, in their order', () => {
    const request = { a: ['\ud83d', '👀'], 'b/~': { '\udc00': '\udc00' }, c: 'ok' };
    expect(walk(request).paths).toEqual(['a/0', 'b~1~0/\ufffd', 'b~1~0/\ufffd']);
  });

  it('reports a few of very many', () => {
    expect(walk(Array(1000).fill('\ud83d')).paths).toHaveLength(50);
  });

  it('ends for a value that holds itself', () => {
    const request: Record<string, unknown> = { text: 'ab' };
    request['self'] = [request];
    expect(walk(request).bytes).toBe(10);
  });

  it('does not look into bytes and URLs', () => {
    const request = [new Uint8Array([1, 2]), new ArrayBuffer(2), new URL('https://x.y')];
    expect(walk(request)).toEqual({ bytes: 0, paths: [] });
  });

  it('takes a list with holes', () => {
    const list: unknown[] = [];
    list[2] = 'abc';
    expect(walk([list, 'de']).bytes).toBe(5);
  });
});
