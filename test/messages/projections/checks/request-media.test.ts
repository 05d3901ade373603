import { describe, expect, it } from 'vitest';
import {
  isBase64,
  isWebUrl,
  parseDataUrl,
} from '../../../../src/messages/projections/checks/request-media.js';

describe('isBase64', () => {
  it.each(['AAAA', 'AAA=', 'AA==', 'a+/9'])('takes %s', (text) => {
    expect(isBase64(text)).toBe(true);
  });

  it.each(['', 'AAA', 'AAAAA', 'A===', 'A=AA', 'AA=A', 'AA-_', 'AA A', 'AAAA=AAA', '===='])(
    'refuses "%s"',
    (text) => {
      expect(isBase64(text)).toBe(false);
    },
  );
});

describe('parseDataUrl', () => {
  it('reads the type and the data', () => {
    expect(parseDataUrl('data:image/PNG;name=a;base64,AA==')).toEqual({
      mime: 'image/png',
      base64: true,
      data: 'AA==',
    });
    expect(parseDataUrl('data:,Hi')).toEqual({ mime: '', base64: false, data: 'Hi' });
  });

  it.each(['', 'data:', 'data:image/png;base64', 'https://x.y/a,b', ' data:,Hi'])(
    'gives null for "%s"',
    (url) => {
      expect(parseDataUrl(url)).toBeNull();
    },
  );
});

describe('isWebUrl', () => {
  it('takes web addresses only', () => {
    expect(['https://x.y/z', 'HTTP://x'].every(isWebUrl)).toBe(true);
    expect(['', 'https://', 'http:/x', 'file:///a', 'sha256:aa', 'see https://x.y'].some(isWebUrl)).toBe(
      false,
    );
  });
});
