import { describe, expect, it } from 'vitest';
import type { ProxiedRequest } from '../../support/faulty-http-proxy.js';
import { errorOf, QUICK } from './network-contract.js';
import { namesOf, patternOf, textOf } from './objects-contract.js';
import { s3Fixture, s3Refusal } from './s3-fixture.js';

const MIB = 1024 * 1024;
const NAME = ['agents', 'one', 'large'];

const { open, proxy, server } = s3Fixture();

const isPart = ({ method, url }: ProxiedRequest) => method === 'PUT' && url.includes('partNumber=2');
const isEnd = ({ method, url }: ProxiedRequest) => method === 'POST' && url.includes('uploadId=');

describe('an object in parts', () => {
  it('comes back exactly, and leaves no upload behind', async () => {
    const objects = open();
    const bytes = patternOf(20 * MIB + 3);
    await objects.put(NAME, bytes);
    expect(proxy().requests.filter(({ url }) => url.includes('partNumber='))).toHaveLength(3);
    expect(Buffer.from((await objects.get(NAME))!).equals(bytes)).toBe(true);
    expect((await objects.stat(NAME))?.size).toBe(bytes.length);
    expect(await server().unfinishedUploads()).toEqual([]);
  });

  it('gets over a fault in one of the parts', async () => {
    const objects = open({ ...QUICK, partBytes: 5 * MIB });
    const bytes = patternOf(11 * MIB);
    proxy().fail({ kind: 'reset' }, 1, isPart);
    await objects.put(NAME, bytes);
    expect(Buffer.from((await objects.get(NAME))!).equals(bytes)).toBe(true);
  });

  it('that fails leaves the old object, and nothing else', async () => {
    const objects = open({ ...QUICK, partBytes: 5 * MIB });
    await objects.put(NAME, Buffer.from('old'));
    proxy().fail({ kind: 'status', status: 500 }, Number.POSITIVE_INFINITY, isPart);
    expect((await errorOf(objects.put(NAME, patternOf(11 * MIB)))).code).toBe('STORAGE_UNAVAILABLE');
    expect(await textOf(objects, NAME)).toBe('old');
    await errorOf(objects.put(['agents', 'one', 'other'], patternOf(11 * MIB)));
    expect(await namesOf(objects, [])).toEqual([NAME]);
    expect(await server().unfinishedUploads()).toEqual([]);
  });

  it('is sent again when the server has forgotten its upload', async () => {
    const objects = open({ ...QUICK, partBytes: 5 * MIB });
    const bytes = patternOf(6 * MIB);
    proxy().fail({ kind: 'status', status: 404, body: s3Refusal('NoSuchUpload', 'Gone.') }, 1, isEnd);
    await objects.put(NAME, bytes);
    expect(Buffer.from((await objects.get(NAME))!).equals(bytes)).toBe(true);
    expect(await server().unfinishedUploads()).toEqual([]);
  });
});
