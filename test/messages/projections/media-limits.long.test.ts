/** Limits of media hold for a request as a whole; what is over them becomes a line of text, and the stored list keeps it. */
import { describe, expect, it } from 'vitest';
import type { Media, Message } from '../../../src/messages/message.js';
import { checkRequest, project } from '../../../src/messages/projections/project.js';
import type { ProjectionTarget } from '../../../src/messages/projections/projection.js';
import { TARGETS, type TargetName } from '../../../src/messages/projections/targets.js';
import { assistant, user } from '../arbitraries.js';
import { gifOf, jpegOf, pngOf, webpOf } from '../media-bytes.js';
import {
  callOf,
  callsOf,
  codesOf,
  countOf,
  dataUrl,
  errorOf,
  imagePart,
  pngWith,
  resultOf,
  shots,
  userWith,
} from './projection-kit.js';

const MEBIBYTE = 1024 * 1024;
const PNG = dataUrl(pngOf(8, 8));

/** As the first characters of a PNG in Base64: that is in a request once for each that is sent. */
const PNG_HEAD = 'iVBORw0KGgo';

function sent(target: TargetName, messages: readonly Message[], more: ProjectionTarget = {}) {
  const { request, notes } = project(target, messages, more);
  expect(checkRequest(target, request)).toStrictEqual([]);
  const omitted = notes.flatMap(({ code, detail }) => (code === 'media-omitted' ? [detail] : []));
  return { pictures: countOf(request, PNG_HEAD), omitted, text: JSON.stringify(request), notes };
}

function one(target: TargetName, media: Partial<Media> & { readonly ref: string }, more?: ProjectionTarget) {
  return sent(target, [userWith({ type: 'text', text: 'Look.' }, imagePart(media))], more);
}

describe('many images to Anthropic', () => {
  it('are sent at any legal size up to twenty', () => {
    const { messages, artifacts } = shots(20, () => [7999, 600]);
    expect(sent('anthropic', messages, { artifacts })).toMatchObject({ pictures: 20, omitted: [] });
  });

  it('lower the limit of each from the twenty-first on', () => {
    const { messages, artifacts } = shots(21, (index) => (index === 3 ? [600, 2001] : [2000, 2000]));
    const { pictures, omitted, notes } = sent('anthropic', messages, { artifacts });
    expect(pictures).toBe(20);
    expect(omitted).toStrictEqual([expect.stringMatching(/longer than 2000 pixels, with more than 20/)]);
    expect(notes.map(({ messageIndex }) => messageIndex)).toContain(3);
  });

  it('count the ones in results of tools', () => {
    const { messages, artifacts } = shots(20, () => [2400, 600]);
    const more = [callsOf([callOf('c')]), resultOf('c', 'seen', { parts: [imagePart({ ref: PNG })] })];
    expect(sent('anthropic', [...messages, ...more], { artifacts }).pictures).toBe(1);
  });

  it('count each time that the same one is shown', () => {
    const ref = dataUrl(pngOf(2400, 600));
    const shown = Array.from({ length: 21 }, () => userWith(imagePart({ ref })));
    expect(sent('anthropic', shown).pictures).toBe(0);
  });

  it('do not count what the assistant showed, which is not sent', () => {
    const { messages, artifacts } = shots(20, () => [2400, 600]);
    const drawn: Message = { role: 'assistant', content: null, parts: [imagePart({ ref: PNG })] };
    const spoken: Message = { ...drawn, parts: [{ type: 'text', text: 'Drawn.' }, ...drawn.parts!] };
    const { pictures, omitted } = sent('anthropic', [...messages, spoken], { artifacts });
    expect(pictures).toBe(20);
    expect(omitted).toStrictEqual([expect.stringContaining('assistant')]);
  });

  it('leave out by name those whose size nobody knows', () => {
    const ref = 'https://example.com/plan.png';
    const { messages, artifacts } = shots(20);
    const { text } = sent('anthropic', [...messages, userWith(imagePart({ ref, name: 'plan' }))], {
      artifacts,
    });
    expect(text).toContain('[image omitted: plan, of unknown size, with more than 20 images in the request]');
    expect(text).not.toContain(ref);
  });

  it('leave out the oldest beyond one hundred', () => {
    for (const over of [1, 3]) {
      const { messages, artifacts } = shots(100 + over);
      const { pictures, notes, omitted } = sent('anthropic', messages, { artifacts });
      expect(pictures).toBe(100);
      for (const detail of omitted) expect(detail).toContain('more than 100 images');
      expect(notes.map(({ messageIndex }) => messageIndex)).toStrictEqual([0, 1, 2].slice(0, over));
    }
  });

  it('keep the text of a turn whose image is left out', () => {
    const { messages, artifacts } = shots(101);
    expect(sent('anthropic', messages, { artifacts }).text).toContain('shot 0');
  });
});

describe('a large image', () => {
  const fits = Math.floor((5 * MEBIBYTE) / 4) * 3;

  it.each([
    ['openai-chat', 1],
    ['openai-responses', 1],
    ['gemini', 1],
    ['anthropic', 0],
    ['ai-sdk', 0],
  ] as const)('of six megabytes is judged by the limit of %s', (target, pictures) => {
    expect(one(target, { ref: dataUrl(pngWith(8, 8, 6_000_000)) }).pictures).toBe(pictures);
  });

  it('is measured as it is sent, not as it is stored', () => {
    expect(one('anthropic', { ref: dataUrl(pngWith(8, 8, fits)) }).pictures).toBe(1);
    expect(one('anthropic', { ref: dataUrl(pngWith(8, 8, fits + 1)) }).pictures).toBe(0);
  });

  it.each([
    [8000, 10, 1],
    [8001, 10, 0],
    [10, 8001, 0],
  ])('of %i × %i pixels is judged by its longer side', (width, height, pictures) => {
    expect(one('anthropic', { ref: dataUrl(pngOf(width, height)) }).pictures).toBe(pictures);
  });

  it('is judged by its bytes where the list says that it is smaller', () => {
    expect(one('anthropic', { ref: dataUrl(pngOf(10, 8340)), width: 10, height: 10 }).pictures).toBe(0);
  });

  it('that is somewhere else is judged by what the list says', () => {
    const ref = 'https://example.com/a.png';
    expect(one('anthropic', { ref, width: 9000 }).text).not.toContain(ref);
    expect(one('anthropic', { ref, bytes: 6_000_000 }).text).not.toContain(ref);
    expect(one('anthropic', { ref, bytes: 60_000, width: 900 }).text).toContain(ref);
  });

  it('is sent where the host knows of a higher limit', () => {
    const ref = dataUrl(pngWith(8, 9000, 6_000_000));
    const limits = { imageSide: 10_000, imageBase64Bytes: 10 * MEBIBYTE };
    const { request } = project('anthropic', [userWith(imagePart({ ref }))], { limits });
    expect(countOf(request, PNG_HEAD)).toBe(1);
  });

  it.each(TARGETS)('gives the same line of text each time in a request to %s', (target) => {
    const texts = [1, 2].map(() => one(target, { ref: `sha256:${'f'.repeat(64)}`, name: 'a.png' }).text);
    expect(texts[0]).toContain('[image omitted: a.png, not available (sha256:');
    expect(texts[1]).toBe(texts[0]);
  });
});

describe.each(TARGETS)('a body to %s that is too large', (target) => {
  it('loses its oldest media until the rest fits', () => {
    const artifacts = new Map<string, Uint8Array>();
    const list = Array.from({ length: 20 }, (_, index): Message => {
      artifacts.set(`sha256:${index}`, pngWith(8, 8, 3_600_000));
      return userWith({ type: 'text', text: `shot ${index}` }, imagePart({ ref: `sha256:${index}` }));
    });
    const { request, notes } = project(target, list, { artifacts });
    const pictures = countOf(request, PNG_HEAD);
    expect(pictures).toBeGreaterThan(0);
    expect(pictures * 4_800_000).toBeLessThanOrEqual(45 * MEBIBYTE);
    const omitted = notes.filter(({ code }) => code === 'media-omitted');
    expect(omitted.map(({ messageIndex }) => messageIndex)).toStrictEqual(
      Array.from({ length: 20 - pictures }, (_, index) => index),
    );
  });
});

describe.each(TARGETS)('an image in a request to %s', (target) => {
  it.each([
    'data:image/png;base64,@@@@',
    'data:image/png;base64,iVBORw0KGgo=<truncated>',
    'data:image/png;base64,',
    'data:image/png',
    'sha256:gone',
    'file:///a.png',
    'http://[bad',
    'https://',
    'blob:https://example.com/1',
  ])('under the reference %s becomes a line of text', (ref) => {
    const { text, omitted } = one(target, { ref });
    expect(omitted).toHaveLength(1);
    expect(text).toContain('[image omitted: not available (');
    expect(text).not.toContain('truncated>"');
  });

  it('is sent where its Base64 is wrapped in lines', () => {
    const ref = PNG.replace('Rw0K', 'Rw0K\r\n');
    expect(one(target, { ref })).toMatchObject({ pictures: 1, omitted: [] });
  });

  it('is sent by its address', () => {
    expect(one(target, { ref: 'https://example.com/a.png' }).text).toContain('https://example.com/a.png');
  });

  it.each([
    ['image/jpeg', jpegOf(8, 8)],
    ['image/webp', webpOf('VP8L', 8, 8)],
    ['image/png', pngOf(8, 8)],
  ])('is sent as %s, which its bytes are, whatever the list says', (mime, bytes) => {
    const said = mime === 'image/png' ? 'image/webp' : 'image/png';
    const artifacts = new Map([['sha256:a', bytes]]);
    for (const media of [{ ref: 'sha256:a', mime: said }, { ref: dataUrl(bytes, said) }]) {
      const { text, omitted } = one(target, media, { artifacts });
      expect(omitted).toStrictEqual([]);
      expect(text).toContain(mime);
      expect(text).not.toContain(said);
    }
  });

  it.each(['image/jpg', 'IMAGE/JPEG', 'image/jpeg; charset=binary'])(
    'is a JPEG under the name %s',
    (mime) => {
      const data = Buffer.from('no header').toString('base64');
      const { text, omitted } = one(target, { ref: `data:${mime};base64,${data}`, mime });
      expect(omitted).toStrictEqual([]);
      expect(text).toContain('image/jpeg');
    },
  );

  it('in the result of a tool stays with it or follows it, and its text is kept', () => {
    const parts = [{ type: 'text' as const, text: 'beside' }, imagePart({ ref: PNG })];
    const list = [user('go'), callsOf([callOf('c')]), resultOf('c', 'seen', { parts }), user('So?')];
    const { pictures, text, omitted } = sent(target, list);
    expect({ pictures, omitted }).toStrictEqual({ pictures: 1, omitted: [] });
    for (const part of ['seen', 'beside', 'So?']) expect(text).toContain(part);
  });

  it('in the result of a tool is sent from whichever field it is in', () => {
    const result = resultOf('c', 'seen', { content: 'beside', imageUrls: [PNG] });
    const { pictures, text } = sent(target, [user('go'), callsOf([callOf('c')]), result]);
    expect(pictures).toBe(1);
    expect(text).toContain('beside');
  });

  it('beside an error is shown, and the error still says that it is one', () => {
    const failed = errorOf('c', 'Timeout.', { parts: [imagePart({ ref: PNG })] });
    const { pictures, text } = sent(target, [user('go'), callsOf([callOf('c')]), failed]);
    expect(pictures).toBe(1);
    expect(text).toMatch(/Error: Timeout\.|"error":"Timeout\."/);
  });

  it('as the only thing that a tool returned leaves no blank text', () => {
    const result = resultOf('c', '', { parts: [imagePart({ ref: PNG })] });
    const { pictures, text } = sent(target, [user('go'), callsOf([callOf('c')]), result]);
    expect(pictures).toBe(1);
    expect(text).not.toMatch(/"(text|content|value)":"\s*"/);
  });

  it('of the assistant is left out with a note', () => {
    const spoken: Message = {
      role: 'assistant',
      content: null,
      parts: [{ type: 'text', text: 'Drawn.' }, imagePart({ ref: PNG })],
    };
    const { pictures, omitted, text } = sent(target, [user('Draw.'), spoken, user('Nice.')]);
    expect(pictures).toBe(0);
    expect(omitted).toHaveLength(1);
    expect(text).toContain('Drawn.');
  });
});

describe('types that a target does not take', () => {
  it.each([
    ['anthropic', 'image/heic', 0],
    ['openai-chat', 'image/heic', 0],
    ['gemini', 'image/heic', 1],
    ['anthropic', 'image/svg+xml', 0],
    ['gemini', 'image/gif', 0],
    ['anthropic', 'image/gif', 1],
  ] as const)('are left out by %s: %s', (target, mime, times) => {
    const bytes = mime === 'image/gif' ? gifOf(8, 8) : Buffer.from('some bytes');
    const { text, omitted } = one(target, { ref: dataUrl(bytes, mime), mime });
    expect(omitted).toHaveLength(1 - times);
    expect(text.includes(`the type ${mime} is not taken here`)).toBe(times === 0);
  });

  it('are judged by the ending of an address that says nothing else', () => {
    const list = (ref: string) => [userWith({ type: 'media', media: { kind: 'image', ref } })];
    expect(codesOf(project('gemini', list('https://example.com/a.gif?v=1')))).toContain('media-omitted');
    expect(codesOf(project('anthropic', list('https://example.com/a.gif?v=1')))).toStrictEqual([]);
  });

  it('are addresses without encryption for Anthropic', () => {
    const ref = 'http://example.com/a.png';
    expect(one('anthropic', { ref }).text).toContain('[image omitted: not available (http://');
    expect(one('openai-chat', { ref }).text).toContain(`"url":"${ref}"`);
  });

  it.each([
    ['video', 'https://example.com/v', 'video/mp4'],
    ['audio', 'https://example.com/a.wav', 'audio/wav'],
    ['file', 'https://example.com/d', 'application/pdf'],
  ] as const)('are no reason to call a %s a picture', (kind, ref, mimeType) => {
    const { request } = project('gemini', [userWith({ type: 'media', media: { kind, ref } })]);
    expect(request.contents[0]?.parts).toStrictEqual([{ fileData: { fileUri: ref, mimeType } }]);
  });

  it.each([
    ['openai-chat', 'audio', 'audio/mpeg', 'input_audio'],
    ['openai-chat', 'file', 'application/pdf', 'file_data'],
    ['openai-responses', 'file', 'application/pdf', 'input_file'],
    ['anthropic', 'file', 'application/pdf', 'document'],
    ['gemini', 'video', 'video/webm', 'inlineData'],
  ] as const)('are not these: %s takes a %s of the type %s', (target, kind, mime, part) => {
    const ref = dataUrl(Buffer.from('some bytes'), mime);
    const { text, omitted } = sent(target, [userWith({ type: 'media', media: { kind, mime, ref } })]);
    expect(omitted).toStrictEqual([]);
    expect(text).toContain(part);
  });
});

it('says in the notes which message an omitted medium is in', () => {
  const list = [user('Hi'), assistant('Hello'), userWith(imagePart({ ref: 'sha256:gone' })), assistant('Ok')];
  expect(project('anthropic', list).notes).toContainEqual({
    code: 'media-omitted',
    messageIndex: 2,
    detail: '[image omitted: not available (sha256:gone)]',
  });
});
