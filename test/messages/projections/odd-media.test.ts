/** Media that a request must not have: without a type, in a prompt without words, at addresses of an internal network. */
import { describe, expect, it } from 'vitest';
import type { Media, Message } from '../../../src/messages/message.js';
import { isInternalUrl } from '../../../src/messages/projections/internal-url.js';
import { checkRequest, project } from '../../../src/messages/projections/project.js';
import { TARGETS, type TargetName } from '../../../src/messages/projections/targets.js';
import { pngOf } from '../media-bytes.js';
import { dataUrl, userWith } from './projection-kit.js';

const PNG = dataUrl(pngOf(8, 8));

function projected(target: TargetName, messages: readonly Message[]) {
  const { request, notes } = project(target, messages);
  expect(checkRequest(target, request)).toStrictEqual([]);
  return { text: JSON.stringify(request), notes };
}

describe.each(TARGETS)('a request to %s', (target) => {
  it.each(['', ' ', ';charset=utf-8', 'image', 'x/'])('is legal with media of the type %j', (mime) => {
    const media = (['image', 'audio', 'video', 'file'] as const).flatMap((kind): Media[] => [
      { kind, mime, ref: 'https://example.com/a' },
      { kind, mime, ref: PNG },
      { kind, mime, ref: 'data:;base64,aGVsbG8=' },
    ]);
    for (const item of media) projected(target, [userWith({ type: 'media', media: item })]);
    projected(target, [userWith(...media.map((item) => ({ type: 'media' as const, media: item })))]);
  });

  it('is legal with a prompt of a blank text and a medium', () => {
    const parts = [
      { type: 'text' as const, text: ' \n' },
      { type: 'media' as const, media: { kind: 'image' as const, ref: PNG } },
    ];
    const { notes } = projected(target, [
      { role: 'system', content: null, parts },
      { role: 'user', content: 'Hi.' },
    ]);
    expect(notes).toMatchObject([{ code: 'media-omitted', messageIndex: 0 }]);
  });

  it('has no image of an internal network, and says so', () => {
    const media: Media = {
      kind: 'image',
      mime: 'image/png',
      ref: 'https://169.254.169.254/latest/meta-data',
    };
    const { text, notes } = projected(target, [
      userWith({ type: 'text', text: 'Look.' }, { type: 'media', media }),
    ]);
    expect(text).not.toContain('169.254');
    expect(text).toContain('[image omitted: its address is one of an internal network]');
    expect(notes).toMatchObject([{ code: 'media-omitted' }]);
  });
});

describe('an address', () => {
  it.each([
    ...[
      'http://localhost/a',
      'http://LOCALHOST./a',
      'http://app.localhost',
      'http://printer.local',
      'http://intranet/a',
    ],
    ...[
      'http://127.0.0.1',
      'http://127.1',
      'http://0x7f.0.0.1',
      'http://2130706433',
      'http://0.0.0.0:80',
      'http://10.1.2.3',
    ],
    ...[
      'http://172.16.0.1',
      'http://172.31.255.255',
      'http://192.168.1.1',
      'http://100.64.0.1',
      'http://224.0.0.1',
    ],
    ...[
      'http://169.254.169.254',
      'http://metadata.google.internal/x',
      'http://user@10.0.0.1/',
      'http://255.255.255.255',
    ],
    ...[
      'http://[::1]',
      'http://[::]',
      'http://[fd00::1]',
      'http://[fe80::1]',
      'http://[::ffff:10.0.0.1]',
      'http://[::7f00:1]',
    ],
  ])('%s is internal', (url) => {
    expect(isInternalUrl(url)).toBe(true);
  });

  it.each([
    ...[
      'https://example.com/a.png',
      'https://10.example.com',
      'https://8.8.8.8/a',
      'https://172.32.0.1',
      'https://localhost.example.com',
    ],
    ...['https://[2606:4700::1111]/', 'https://x.y', 'data:image/png;base64,AAAA', 'sha256:00', 'no address'],
  ])('%s is not', (url) => {
    expect(isInternalUrl(url)).toBe(false);
  });
});
