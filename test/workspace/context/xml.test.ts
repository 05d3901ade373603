import { describe, expect, it } from 'vitest';
import { xmlAttribute, xmlJson, xmlText } from '../../../src/workspace/context/xml.js';
import { parseStrictXml } from './strict-xml.js';

/** Every code unit, alone and beside a letter. */
const allUnits = Array.from({ length: 0x10000 }, (_, unit) => String.fromCharCode(unit));
const all = `${allUnits.slice(0, 0xd800).join('')}${allUnits.map((unit) => `${unit}x`).join('')}`;

const text = (escaped: string) => parseStrictXml(`<a>${escaped}</a>`).text;
const attribute = (quoted: string) => parseStrictXml(`<a b=${quoted}/>`).attributes.get('b');

describe('a text in XML', () => {
  it.each(['</a>', ']]>', '&amp;', '&lt;', '"\'', '<!--', '<?x?>', '<![CDATA[', '🙂 שלום', 'a\n\tb', ' '])(
    'reads back as %j, between tags and in an attribute',
    (given) => {
      expect(text(xmlText(given))).toBe(given);
      expect(attribute(xmlAttribute(given))).toBe(given);
    },
  );

  it.each(['\u0000', '\u0008', '\u000b', '\r', '\u001f', '\ud83d', '\ude42', '\ufffe', '\uffff'])(
    'has U+FFFD for %j, which XML cannot say',
    (given) => {
      expect(text(xmlText(`a${given}b`))).toBe('a\ufffdb');
      expect(attribute(xmlAttribute(`a${given}b`))).toBe('a\ufffdb');
    },
  );

  it('is well-formed whatever characters it has', () => {
    const said = all.toWellFormed().replace(/[\u0000-\u0008\u000b-\u001f\ufffe\uffff]/g, '\ufffd');
    expect(text(xmlText(all)) === said).toBe(true);
    expect(attribute(xmlAttribute(all)) === said).toBe(true);
  });
});

describe('JSON in XML', () => {
  it('reads back exactly, whatever characters it has', () => {
    expect(JSON.parse(text(xmlJson(JSON.stringify(all)))) === all).toBe(true);
    const key = { [all]: [all] };
    expect(Object.keys(JSON.parse(text(xmlJson(JSON.stringify(key)))))[0] === all).toBe(true);
  });

  it('reads back exactly where a backslash stands before what is escaped', () => {
    for (const given of ['\\\uffff', '\\\\\ufffe', '\\u0000', '"\u0085"', '\\\u007f'])
      expect(JSON.parse(text(xmlJson(JSON.stringify(given))))).toBe(given);
  });
});

describe('the strict parser of these tests', () => {
  it.each([
    '<a>',
    '<a></b>',
    '<a/><b/>',
    '<a b="1" b="2"/>',
    '<a b="<"/>',
    '<a b=1/>',
    '<a>&nbsp;</a>',
    '<a>&</a>',
    '<a>&#0;</a>',
    '<a>]]></a>',
    '<a>\u0001</a>',
    '<a>\ufffe</a>',
    '<a>\ud83d</a>',
    '<a b="x"y="z"/>',
    'x<a/>',
    '<a/> x',
  ])('refuses %j', (source) => {
    expect(() => parseStrictXml(source)).toThrow();
  });
});
