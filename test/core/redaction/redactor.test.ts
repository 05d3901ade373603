import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../src/core/json.js';
import { type RedactionOptions, Redactor } from '../../../src/core/redaction/redactor.js';
import { runParameters } from '../../property/seed.js';
import { SECRETS } from './secrets.js';

const credentials = new Redactor();
const personal = new Redactor({ credentials: false, personal: true });

describe('credentials', () => {
  const parameters = runParameters('generated credentials', 100);
  const surroundings = [
    (secret: string) => secret,
    (secret: string) => `The key is ${secret}. Keep it.`,
    (secret: string) => `export KEY=${secret}\n`,
    (secret: string) => `{"value":"${secret}","n":1}`,
    (secret: string) => `curl -H 'X-Key: ${secret}' https://api.test/v1`,
  ];

  it.each(SECRETS)('of the kind $kind are taken wherever they stand', ({ make }) => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 31 }), fc.nat(surroundings.length - 1), (seed, place) => {
        const secret = make(seed);
        const text = surroundings[place]!(secret.whole);
        const clean = credentials.text(text);
        expect(clean).not.toContain(secret.secret);
        expect(clean).toContain('[redacted:');
      }),
      parameters,
    );
  });

  it.each([
    [
      'postgres://app:s3cr3t-pass@db.test:5432/app',
      'postgres://app:[redacted:url-password]@db.test:5432/app',
    ],
    ['PASSWORD=hunter2hunter', 'PASSWORD=[redacted:password]'],
    ["password: 'Tr0ub4dor&3x'", "password: '[redacted:password]&3x'"],
    ['{"client_secret":"9f8a7b6c5d4e3f2a1b0c"}', '{"client_secret":"[redacted:secret]"}'],
    ['"{\\"api_key\\":\\"9f8a7b6c5d4e3f2a1b0c\\"}"', '"{\\"api_key\\":\\"[redacted:secret]\\"}"'],
    ['Authorization: Bearer 9f8a7b6c5d4e3f2a1b0c99', 'Authorization: Bearer [redacted:bearer-token]'],
    ['Authorization: Basic dXNlcjpwYXNzd29yZA==', 'Authorization: Basic [redacted:basic-auth]'],
  ])('are taken by what stands before them: %s', (text, clean) => {
    expect(credentials.text(text)).toBe(clean);
  });

  it.each([
    'const password = getPassword();',
    'password: string; token: Token;',
    'apiKey: process.env.OPENAI_API_KEY',
    'postgres://user:password@localhost/db',
    'postgres://user:{{PASSWORD}}@localhost/db',
    'OPENAI_API_KEY=your-api-key-here-123456',
    'Basic authentication and bearer tokens are supported.',
    'sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',
    'commit 3f786850e387550fdab836ed7e6dc881de23001b',
    '550e8400-e29b-41d4-a716-446655440000',
    'src/task-tracker/risk-scores/desk-1234567890.ts',
    'max_tokens: 4096, token_count: 1234567890123456',
  ])('are not seen in: %s', (text) => {
    expect(credentials.text(text)).toBe(text);
  });

  it('are taken by the name of a member, whatever their form', () => {
    const given = { user: 'ann', password: 'horse', auth: { apiKey: 'a1b2c3d4e5', token: 'abc' } };
    expect(credentials.json(given)).toStrictEqual({
      user: 'ann',
      password: '[redacted:password]',
      auth: { apiKey: '[redacted:secret]', token: 'abc' },
    });
  });

  it('are not seen in real transcripts more often than once a megabyte', ({ skip }) => {
    const folder = join(import.meta.dirname, '../../../../shared/corpus');
    if (!existsSync(folder)) return skip();
    let [bytes, taken] = [0, 0];
    const counting = new Redactor({
      onRedacted: (counts) => {
        for (const count of Object.values(counts)) taken += count;
      },
    });
    for (const file of filesBelow(folder)) {
      const text = readFileSync(file, 'utf8');
      bytes += text.length;
      for (const line of text.split('\n')) counting.json(parsed(line));
    }
    expect(taken).toBeLessThanOrEqual(bytes / 1e6);
  });
});

describe('personal data', () => {
  it.each([
    ['Write to Ann.Lee+x@mail.example.org today', 'Write to [redacted:email] today'],
    ['Call +49 170 1234567 or (212) 555-0187.', 'Call [redacted:phone] or [redacted:phone].'],
    ['Card 4111 1111 1111 1111, exp. 12/29', 'Card [redacted:card], exp. 12/29'],
    ['IBAN DE89 3704 0044 0532 0130 00', 'IBAN [redacted:iban]'],
    ['from 203.0.113.9 and 2001:db8::ff00:42:8329', 'from [redacted:ip] and [redacted:ip]'],
  ])('is taken: %s', (text, clean) => {
    expect(personal.text(text)).toBe(clean);
  });

  it.each([
    'git@github.com:acme/app.git and pkg@1.2.3',
    '2026-03-01T10:20:30Z, 12:34:56, 1772360430123',
    'version 1.2.3.4567, localhost 127.0.0.1, ::1',
    'order 4111 1111 1111 1112',
    'id 1234567890123456789012345',
    'GB82 WEST 1234 5698 7654 33',
  ])('is not seen in: %s', (text) => {
    expect(personal.text(text)).toBe(text);
  });
});

describe('a redactor', () => {
  it('gives the same value back when nothing is taken, and changes nothing that it is given', () => {
    const clean = { a: [{ b: 'hello' }], n: 1 };
    expect(credentials.json(clean)).toBe(clean);
    const given = { keep: { x: 1 }, list: ['PASSWORD=hunter2hunter'] };
    const copy = structuredClone(given);
    const taken = credentials.json(given);
    expect(given).toStrictEqual(copy);
    expect(taken.keep).toBe(given.keep);
    expect(taken.list).toStrictEqual(['PASSWORD=[redacted:password]']);
  });

  it('takes nothing more in a second pass', () => {
    const all = new Redactor({ personal: true, action: 'hash', hashKey: 'k' });
    const text = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom(
        'PASSWORD=hunter2hunter',
        'a@b.co',
        'api_key: "9f8a7b6c5d4e3f2a1b0c"',
        '+49 170 1234567',
      ),
      fc.tuple(fc.constantFrom(...SECRETS), fc.nat()).map(([{ make }, seed]) => make(seed + 1).whole),
    );
    fc.assert(
      fc.property(fc.array(text, { maxLength: 5 }), (parts) => {
        for (const redactor of [credentials, all]) {
          const value = { password: parts[0] ?? '', text: parts.join(' ') };
          const once = redactor.json(value);
          expect(redactor.json(once)).toBe(once);
        }
      }),
      runParameters('redacted twice', 300),
    );
  });

  it('looks for nothing inside a mask', () => {
    const own = new Redactor({ detectors: [{ kind: 'word', pattern: /github|token/ }] });
    expect(own.text('a github link, [redacted:github-token]')).toBe(
      'a [redacted:word] link, [redacted:github-token]',
    );
  });

  it('hashes with a key: equal values stay equal, and another key gives another hash', () => {
    const hashed = (hashKey: string) => new Redactor({ personal: true, action: 'hash', hashKey });
    const [one, two] = [hashed('one'), hashed('two')];
    expect(one.text('a@b.co')).toMatch(/^\[redacted:email#[0-9a-f]{12}\]$/);
    expect(one.text('a@b.co')).toBe(one.text('a@b.co'));
    expect(one.text('a@b.co')).not.toBe(one.text('c@b.co'));
    expect(one.text('a@b.co')).not.toBe(two.text('a@b.co'));
  });

  it('refuses the kinds that may not be stored, without telling the value', () => {
    const strict = new Redactor({ actions: { 'aws-access-key': 'refuse' } });
    const { whole } = SECRETS.find(({ kind }) => kind === 'aws-access-key')!.make(1);
    expect(() => strict.json({ text: whole })).toThrow(
      expect.objectContaining({ code: 'SENSITIVE_DATA', details: { kind: 'aws-access-key' } }),
    );
    try {
      strict.text(whole);
    } catch (thrown) {
      expect(JSON.stringify(thrown)).not.toContain(whole);
    }
  });

  it('has detectors of the host, by pattern and by function, and leaves what is allowed', () => {
    const own = new Redactor({
      personal: true,
      allow: ['desk@acme.test', /.*@example\.com/],
      detectors: [
        { kind: 'customer', pattern: /\bcustomer (\d{4})\b/ },
        { find: (text) => (text.startsWith('!') ? [{ kind: 'shout', start: 0, end: text.length }] : []) },
      ],
    });
    expect(own.text('customer 4711 wrote to desk@acme.test, x@example.com and y@acme.test')).toBe(
      'customer [redacted:customer] wrote to desk@acme.test, x@example.com and [redacted:email]',
    );
    expect(own.text('!secret')).toBe('[redacted:shout]');
  });

  it('reads the signature of a mail like any text', () => {
    const mail = { text: 'PASSWORD=hunter2hunter', signature: 'Ann Lee, PASSWORD=hunter3hunter' };
    expect(credentials.json(mail)).toStrictEqual({
      text: 'PASSWORD=[redacted:password]',
      signature: 'Ann Lee, PASSWORD=[redacted:password]',
    });
  });

  it('leaves signatures and encoded bytes alone, and drops the signature of reasoning whose text changed', () => {
    const bytes = Buffer.from(Array.from({ length: 900 }, (_, index) => (index * 7919) % 256)).toString(
      'base64',
    );
    const media = {
      url: `data:image/png;base64,AKIAABCDEFGHIJKLMNOP${bytes}`,
      raw: `AKIA${bytes}`,
      signature: 'AKIAABCDEFGHIJKLMNOP',
    };
    expect(credentials.json(media)).toBe(media);
    const reasoning = { text: 'PASSWORD=hunter2hunter', signature: 'EqQBCgIYAhIkMzQ1Njc4OTA=' };
    expect(credentials.json<JsonValue>(reasoning)).toStrictEqual({ text: 'PASSWORD=[redacted:password]' });
  });

  it('counts what it took by kind, once for a record', () => {
    const seen: unknown[] = [];
    const counting = new Redactor({ personal: true, onRedacted: (counts) => seen.push(counts) });
    counting.json({ a: 'a@b.co c@d.co', b: 'PASSWORD=hunter2hunter' });
    counting.json({ a: 'nothing' });
    expect(seen).toStrictEqual([{ email: 2, password: 1 }]);
  });

  it.each<[RedactionOptions]>([
    [{ action: 'drop' as never }],
    [{ action: 'hash' }],
    [{ actions: { email: 'hash' }, hashKey: '' }],
    [{ detectors: [{ kind: 'Bad Kind', pattern: /x/ }] }],
  ])('is refused with options that mean nothing: %j', (options) => {
    expect(() => new Redactor(options)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }));
  });

  it('takes a time that grows with the length of the text', () => {
    const text = 'x'.repeat(200) + ' password token: a.b://c:d '.repeat(4_000);
    const short = timeOf(text.slice(0, text.length / 8));
    const long = timeOf(text);
    expect(long).toBeLessThan(Math.max(short, 5) * 40);
  });
});

function timeOf(text: string): number {
  const redactor = new Redactor({ personal: true });
  const start = performance.now();
  redactor.text(text);
  return performance.now() - start;
}

function parsed(line: string): JsonValue {
  try {
    return JSON.parse(line) as JsonValue;
  } catch {
    return line;
  }
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return filesBelow(path);
    return /\.(?:jsonl?|md|txt)$/.test(name) && statSync(path).size < 2e6 ? [path] : [];
  });
}
