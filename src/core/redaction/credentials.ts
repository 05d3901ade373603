/** Credentials: by their form, in an address, in a header, and as the value of a name such as `password` or `api_key`. */
import { CREDENTIAL_FORMATS } from './credential-formats.js';
import { type Detector, onlyWhere, patternDetector } from './detector.js';

/** The start of a token. */
const BEFORE = '(?<![A-Za-z0-9_])';

/** No known form is shorter. */
const WORD = /[^\s"'`<>()[\]{},;\\]{16,}/g;
/** Long words of only these characters are encoded bytes: they contain any prefix by chance. */
const DATA = /^[A-Za-z0-9+/_-]{600,}={0,2}$/;

/**
 * Searches for all forms, but only in long words with a digit: most texts have few of them. So the text itself is read once, not once
 * per form.
 */
const BY_FORM: Detector = {
  *find(text) {
    for (const { 0: word, index } of text.matchAll(WORD)) {
      if (!/\d/.test(word) || !ANY_HINT.test(word) || DATA.test(word)) continue;
      for (const { hints, detector } of forms()) {
        if (!hints.some((hint) => word.includes(hint))) continue;
        for (const { kind, start, end } of detector.find(word))
          yield { kind, start: index + start, end: index + end };
      }
    }
  },
};
/** Compiled at first use: most processes never find a word with a hint. */
function forms(): readonly Form[] {
  known ??= CREDENTIAL_FORMATS.map(([kind, hints, pattern]) => ({
    hints,
    detector: patternDetector(kind, new RegExp(`${BEFORE}${pattern}`)),
  }));
  return known;
}
interface Form {
  readonly hints: readonly string[];
  readonly detector: Detector;
}
let known: readonly Form[] | null = null;
const ANY_HINT = new RegExp(
  [...new Set(CREDENTIAL_FORMATS.flatMap(([, hints]) => hints))]
    .map((hint) => hint.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&'))
    .join('|'),
);

/** Three parts in base64, of which the first is a number. It has no prefix. */
const DISCORD = patternDetector(
  'discord-token',
  /(?<![A-Za-z0-9_])[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6,7}\.[A-Za-z0-9_-]{27,}/,
);

const PRIVATE_KEY = patternDetector(
  'private-key',
  /-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----[\s\S]{0,40000}?(?:-----END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----|$)/,
);

/** The password in `scheme://user:password@host`. */
const ADDRESS_PASSWORD = patternDetector(
  'url-password',
  /:\/\/[^\s:/@"'`<>\\]{0,128}:([^\s/@"'`<>\\]{1,256})@/,
  (found) => !isPlaceholder(found),
);

const BEARER = patternDetector('bearer-token', /\b[Bb]earer[ \t]+([A-Za-z0-9_.=+/~-]{20,})/, (found) =>
  isMixed(found),
);

const BASIC = patternDetector('basic-auth', /\b[Bb]asic[ \t]+([A-Za-z0-9+/]{8,}={0,2})/, (found) => {
  const decoded = Buffer.from(found, 'base64').toString('latin1');
  return decoded.includes(':') && /^[\x20-\x7e]+$/.test(decoded);
});

const PASSWORD_NAMES = 'passwords?|passwd|pwd|passphrase|passcode';
const SECRET_NAMES = [
  'secrets?',
  'secret[_-]?(?:access[_-]?)?key',
  'client[_-]?secret',
  'api[_-]?(?:key|token|secret)',
  'app[_-]?(?:key|secret)',
  'access[_-]?(?:key|token)',
  'refresh[_-]?token',
  'auth[_-]?(?:key|token)',
  'session[_-]?(?:key|token)',
  'private[_-]?key',
  'encryption[_-]?key',
  'account[_-]?key',
  'deploy[_-]?key',
  'webhook[_-]?secret',
  'token',
  'credentials?',
].join('|');

/** `name = value` or `name: "value"`, also in escaped JSON. */
function assignment(names: string): RegExp {
  const value = `[^\\s"'\`,;&<>(){}\\[\\]\\\\]`;
  return new RegExp(
    `(?:${names})\\\\?["'\`]?[ \\t]{0,4}(?:=>|:=|[:=])[ \\t]{0,4}\\\\?["'\`]?(${value}{6,512})`,
    'i',
  );
}

const ASSIGNED_PASSWORD = patternDetector(
  'password',
  assignment(PASSWORD_NAMES),
  (found) => !isPlaceholder(found) && isMixed(found) && isNoCode(found),
);
const ASSIGNED_SECRET = patternDetector(
  'secret',
  assignment(SECRET_NAMES),
  (found) => found.length >= 16 && !isPlaceholder(found) && isRandom(found) && isNoCode(found),
);

export const CREDENTIAL_DETECTORS: readonly Detector[] = [
  BY_FORM,
  onlyWhere(/\.[A-Za-z0-9_-]{6,7}\.[A-Za-z0-9_-]{27}/, DISCORD),
  onlyWhere('PRIVATE KEY', PRIVATE_KEY),
  onlyWhere('://', ADDRESS_PASSWORD),
  onlyWhere('earer', BEARER),
  onlyWhere('asic', BASIC),
  onlyWhere(/pass|pwd/i, ASSIGNED_PASSWORD),
  onlyWhere(/secret|token|key|credential/i, ASSIGNED_SECRET),
];

const PASSWORD_KEY = new RegExp(`^(?:.*[_-])?(?:${PASSWORD_NAMES})$`, 'i');
const SECRET_KEY = new RegExp(`^(?:.*[_-])?(?:${SECRET_NAMES}|authorization|cookie|set-cookie)$`, 'i');

/** The kind of a member's value, by the name of the member; null if the value is not a secret. */
export function kindByName(name: string, value: string): string | null {
  const plain = name.replace(/([a-z0-9])([A-Z])/g, '$1_$2');
  if (PASSWORD_KEY.test(plain)) return value.length < 3 || isPlaceholder(value) ? null : 'password';
  if (!SECRET_KEY.test(plain)) return null;
  const isOne = value.length >= 8 && !/\s/.test(value) && !isPlaceholder(value) && isMixed(value);
  return isOne && isNoCode(value) ? 'secret' : null;
}

const PLACEHOLDER =
  /^(?:\[redacted\b.*|x+|\*+|\.{3,}|-+|<.*>|\$.*|\{\{.*|%\w+%?|.*(?:your|example|placeholder|dummy|redacted|changeme|change_me|xxxx|\*\*\*\*|\.\.\.|insert|replace).*|my[-_].*|pass(?:word|wd)?\d{0,3}|user(?:name)?|secret|token|test(?:ing)?\d{0,4}|foo|bar|none|null|nil|undefined|true|false|string|str|required|optional|hidden|empty)$/is;

/** A text that documentation and code use in place of a secret. */
function isPlaceholder(text: string): boolean {
  return PLACEHOLDER.test(text);
}

function isMixed(text: string): boolean {
  return /\d/.test(text) && /[A-Za-z]/.test(text);
}

/** Random tokens mix letters and digits, and repeat few characters. */
function isRandom(text: string): boolean {
  return isMixed(text) && entropyOf(text) >= 3;
}

/** False for variables, paths, addresses and dates, which are also assigned to such names. */
function isNoCode(text: string): boolean {
  if (/^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+$/.test(text)) return false;
  if (/^[a-z]+(?:[A-Z][a-z]+)*\d{0,3}$/.test(text) || /^[A-Z]+(?:_[A-Z0-9]+)+$/.test(text)) return false;
  if (/^[a-z]+(?:[_-][a-z0-9]{1,12})*$/.test(text) && !/\d.*[a-z].*\d/.test(text)) return false;
  return !/^(?:\.{0,2}\/|~\/|[A-Za-z]:\\|https?:)/.test(text) && !/^\d{4}-\d\d-\d\d/.test(text);
}

/** In bits per character. */
function entropyOf(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}
