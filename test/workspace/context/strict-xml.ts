/** A parser of the XML that is written here, and of nothing more: it refuses whatever a strict parser of XML 1.0 would refuse. */

export interface XmlElement {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly XmlElement[];
  /** What stands directly in it, with its references resolved. */
  readonly text: string;
}

const NAME = /[A-Za-z_][A-Za-z0-9_.-]*/y;
const ATTRIBUTE = /\s+([A-Za-z_][A-Za-z0-9_.-]*)=(?:"([^"<]*)"|'([^'<]*)')/y;
const NAMED: { readonly [name: string]: string } = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** @throws Error with the place, for what is not well-formed */
export function parseStrictXml(source: string): XmlElement {
  assertLegal(source);
  const reader = new Reader(source);
  const root = reader.element();
  if (reader.at !== source.length) reader.fail('something follows the root');
  return root;
}

/** XML 1.0, production 2. */
function isLegal(point: number): boolean {
  if (point === 0x9 || point === 0xa || point === 0xd) return true;
  if (point >= 0x20 && point <= 0xd7ff) return true;
  return (point >= 0xe000 && point <= 0xfffd) || (point >= 0x10000 && point <= 0x10ffff);
}

function assertLegal(text: string): void {
  for (const character of text) {
    const point = character.codePointAt(0)!;
    if (!isLegal(point)) throw new Error(`U+${point.toString(16)} is no character of XML`);
  }
}

class Reader {
  readonly #source: string;
  at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  element(): XmlElement {
    this.#take('<');
    const name = this.#match(NAME, 'a name')[0];
    const attributes = this.#attributes();
    if (this.#skip(/\s*\/>/y)) return { name, attributes, children: [], text: '' };
    if (!this.#skip(/\s*>/y)) this.fail('the tag is not closed');
    const children: XmlElement[] = [];
    let text = '';
    while (!this.#source.startsWith('</', this.at)) {
      if (this.at >= this.#source.length) this.fail(`<${name}> is never closed`);
      if (this.#source[this.at] === '<') children.push(this.element());
      else text += this.#text();
    }
    this.#take(`</${name}`);
    if (!this.#skip(/\s*>/y)) this.fail('another element is open');
    return { name, attributes, children, text };
  }

  #attributes(): Map<string, string> {
    const attributes = new Map<string, string>();
    for (let match = this.#try(ATTRIBUTE); match; match = this.#try(ATTRIBUTE)) {
      if (attributes.has(match[1]!)) this.fail(`the attribute ${match[1]} stands twice`);
      const value = match[2] ?? match[3] ?? '';
      // White space that is no reference becomes a space (3.3.3).
      attributes.set(match[1]!, this.#resolved(value.replace(/[\t\n\r]/g, ' ')));
    }
    return attributes;
  }

  #text(): string {
    const end = this.#source.indexOf('<', this.at);
    const raw = this.#source.slice(this.at, end < 0 ? undefined : end);
    if (raw.includes(']]>')) this.fail('a text has ]]>');
    this.at += raw.length;
    return this.#resolved(raw.replace(/\r\n?/g, '\n')); // 2.11
  }

  #resolved(raw: string): string {
    return raw.replace(/&([^;]*;?)/g, (reference, body: string) => {
      const named = NAMED[body.slice(0, -1)];
      if (body.endsWith(';') && named !== undefined) return named;
      const number = /^#(?:(\d+)|x([0-9a-fA-F]+));$/.exec(body);
      const point = number ? Number.parseInt(number[1] ?? number[2]!, number[1] ? 10 : 16) : -1;
      if (!isLegal(point)) this.fail(`${reference} refers to nothing`);
      return String.fromCodePoint(point);
    });
  }

  #take(text: string): void {
    if (!this.#source.startsWith(text, this.at)) this.fail(`${text} is missing`);
    this.at += text.length;
  }

  #try(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.#source);
    if (match) this.at += match[0].length;
    return match;
  }

  #skip(pattern: RegExp): boolean {
    return this.#try(pattern) !== null;
  }

  #match(pattern: RegExp, what: string): RegExpExecArray {
    return this.#try(pattern) ?? this.fail(`${what} is missing`);
  }

  fail(problem: string): never {
    throw new Error(`${problem}, at ${this.at}: ${this.#source.slice(this.at, this.at + 60)}`);
  }
}
