/** Made-up credentials in the forms that their issuers document. None of them opens anything. */

export interface MadeSecret {
  /** What stands in a text. */
  readonly whole: string;
  /** The part that must not be there afterwards. */
  readonly secret: string;
}

export interface SecretKind {
  readonly kind: string;
  readonly make: (seed: number) => MadeSecret;
}

const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const LOWER = UPPER.toLowerCase();
const DIGITS = '0123456789';
const HEX = `${DIGITS}abcdef`;
const ALNUM = UPPER + LOWER + DIGITS;
const WORD = `${ALNUM}_-`;

/** Characters of a set, and a digit in the middle: as of random ones nearly all are. */
function letters(seed: number, set: string, length: number): string {
  let state = seed >>> 0 || 1;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const made = Array.from({ length }, () => set[Math.floor(next() * set.length)]!);
  made[0] = set.replace(/[^A-Za-z0-9]/g, '')[Math.floor(next() * 10)]!;
  if (set.includes('7')) made[length >> 1] = '7';
  made[length - 1] = set.replace(/[^A-Za-z0-9]/g, '')[Math.floor(next() * 10)]!;
  return made.join('');
}

function kind(name: string, make: (of: (set: string, length: number) => string) => string): SecretKind {
  return {
    kind: name,
    make: (seed) => {
      let drawn = 0;
      const whole = make((set, length) => letters(seed + 7_919 * drawn++, set, length));
      return { whole, secret: whole };
    },
  };
}

/** Where only a part is the secret. */
function within(name: string, before: string, set: string, length: number, after = ''): SecretKind {
  return {
    kind: name,
    make: (seed) => {
      const secret = letters(seed, set, length);
      return { whole: before + secret + after, secret };
    },
  };
}

const BASE64 = `${ALNUM}+/`;

export const SECRETS: readonly SecretKind[] = [
  kind('aws-access-key', (of) => `AKIA${of(UPPER + DIGITS, 16)}`),
  kind('aws-session-key', (of) => `ASIA${of(UPPER + DIGITS, 16)}`),
  within('aws-secret-key', 'aws_secret_access_key=', BASE64, 40),
  kind('github-classic', (of) => `ghp_${of(ALNUM, 36)}`),
  kind('github-app', (of) => `ghs_${of(ALNUM, 36)}`),
  kind('github-fine-grained', (of) => `github_pat_${of(ALNUM, 22)}_${of(ALNUM, 59)}`),
  kind('gitlab', (of) => `glpat-${of(WORD, 20)}`),
  kind('slack-bot', (of) => `xoxb-${of(DIGITS, 12)}-${of(DIGITS, 12)}-${of(ALNUM, 24)}`),
  kind('slack-user', (of) => `xoxp-${of(DIGITS, 11)}-${of(DIGITS, 11)}-${of(DIGITS, 12)}-${of(HEX, 32)}`),
  kind('slack-app', (of) => `xapp-1-A${of(UPPER + DIGITS, 10)}-${of(DIGITS, 13)}-${of(HEX, 64)}`),
  within('slack-webhook', 'https://hooks.slack.com/services/', ALNUM, 44),
  kind('stripe', (of) => `sk_live_${of(ALNUM, 24)}`),
  kind('stripe-restricted', (of) => `rk_live_${of(ALNUM, 99)}`),
  kind('google-api', (of) => `AIza${of(WORD, 35)}`),
  kind('google-oauth', (of) => `GOCSPX-${of(WORD, 28)}`),
  kind('openai-project', (of) => `sk-proj-${of(WORD, 74)}T3BlbkFJ${of(WORD, 74)}`),
  kind('openai-legacy', (of) => `sk-${of(ALNUM, 20)}T3BlbkFJ${of(ALNUM, 20)}`),
  kind('anthropic', (of) => `sk-ant-api03-${of(WORD, 93)}AA`),
  kind('huggingface', (of) => `hf_${of(ALNUM, 34)}`),
  kind('groq', (of) => `gsk_${of(ALNUM, 52)}`),
  kind('npm', (of) => `npm_${of(ALNUM, 36)}`),
  kind('pypi', (of) => `pypi-AgEIcHlwaS5vcmc${of(WORD, 150)}`),
  kind('sendgrid', (of) => `SG.${of(WORD, 22)}.${of(WORD, 43)}`),
  kind('twilio', (of) => `SK${of(HEX, 32)}`),
  kind('mailgun', (of) => `key-${of(HEX, 32)}`),
  kind('mailchimp', (of) => `${of(HEX, 32)}-us12`),
  kind('digitalocean', (of) => `dop_v1_${of(HEX, 64)}`),
  kind('databricks', (of) => `dapi${of(HEX, 32)}`),
  kind('shopify', (of) => `shpat_${of(HEX, 32)}`),
  kind('square', (of) => `sq0atp-${of(WORD, 22)}`),
  kind('telegram', (of) => `${of(DIGITS, 9)}:AA${of(WORD, 33)}`),
  kind('discord', (of) => `MT${of(ALNUM, 22)}.${of(WORD, 6)}.${of(WORD, 38)}`),
  kind('linear', (of) => `lin_api_${of(ALNUM, 40)}`),
  kind('notion', (of) => `ntn_${of(ALNUM, 46)}`),
  kind('airtable', (of) => `pat${of(ALNUM, 14)}.${of(HEX, 64)}`),
  kind('postman', (of) => `PMAK-${of(HEX, 24)}-${of(HEX, 34)}`),
  kind('figma', (of) => `figd_${of(WORD, 40)}`),
  kind('atlassian', (of) => `ATATT3xFfGF0${of(WORD, 180)}`),
  kind('new-relic', (of) => `NRAK-${of(UPPER + DIGITS, 27)}`),
  kind('grafana', (of) => `glsa_${of(ALNUM, 32)}_${of(HEX, 8)}`),
  kind('vault', (of) => `hvs.${of(WORD, 90)}`),
  kind('terraform', (of) => `${of(ALNUM, 14)}.atlasv1.${of(WORD, 64)}`),
  kind('docker', (of) => `dckr_pat_${of(WORD, 27)}`),
  kind('age', (of) => `AGE-SECRET-KEY-1${of(UPPER + DIGITS, 58)}`),
  kind('jwt', (of) => `eyJ${of(WORD, 33)}.eyJ${of(WORD, 60)}.${of(WORD, 43)}`),
  within('azure-storage', 'DefaultEndpointsProtocol=https;AccountName=a;AccountKey=', BASE64, 86, '=='),
  within('url', 'postgres://app:', ALNUM, 24, '@db.internal:5432/app'),
  within('bearer', 'Authorization: Bearer ', ALNUM, 40),
  within('password', 'DB_PASSWORD=', ALNUM, 16),
  within('api-key', 'api_key: ', HEX, 32),
  {
    kind: 'private-key',
    make: (seed) => {
      const secret = letters(seed, BASE64, 64);
      const lines = `${secret}\\n${letters(seed + 1, BASE64, 64)}`;
      return { whole: `-----BEGIN RSA PRIVATE KEY-----\\n${lines}\\n-----END RSA PRIVATE KEY-----`, secret };
    },
  },
];
