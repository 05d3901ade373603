/** Calls webhooks: signed, and only at addresses of the public internet. */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from 'node:crypto';
import { lookup as lookUp } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { RekindleError } from '../../../core/errors.js';
import { isJsonObject, type JsonObject, type JsonValue, tryParseJson } from '../../../core/json.js';
import { isInternalAddress, isInternalUrl } from '../../../messages/projections/internal-url.js';
import type { StorageBackend } from '../../../storage/ports.js';
import type { CallWebhook, WakeCall } from '../../../streams/subscriptions/wake-call.js';
import { STREAM_PREFIX } from './stream-call.js';
import { linksOf } from './subscription-wire.js';

/** A receiver must answer within this time (ms), with at most so many bytes. */
const ANSWER_MS = 10_000;
const ANSWER_BYTES_MAX = 64 * 1024;
const KEY = ['server', 'stream_webhook_key'];
const LOCAL_HOST = /^(localhost|127\.0\.0\.\d{1,3})$/;

/** Why a webhook may not be called there; null if it may. @param allowsLocal this machine, over plain HTTP */
export function webhookProblem(text: string, allowsLocal: boolean): string | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url) return 'it is no URL';
  if (url.username !== '' || url.password !== '') return 'it has a user name or password';
  if (allowsLocal && url.protocol === 'http:' && LOCAL_HOST.test(url.hostname)) return null;
  if (url.protocol !== 'https:') return 'it is not https';
  return isInternalUrl(url.href) ? 'it is an address or a name of a private network' : null;
}

/** Finds the address of a name, and refuses private ones. Used when it connects: a name may stand for another address by then. */
export const publicLookup: LookupFunction = (name, options, callback) => {
  lookUp(name, { ...options, all: true }, (thrown, found) => {
    if (thrown) return callback(thrown, []);
    if (found.some(({ address }) => isInternalAddress(address)))
      return callback(new Error(`${name} is an address of a private network.`), []);
    if (options.all) return callback(null, found);
    return callback(null, found[0]!.address, found[0]!.family);
  });
};

/** The key that signs calls, made at its first use and stored with the server's tokens. */
export class WebhookKey {
  readonly #backend: StorageBackend;
  #key: Promise<{ readonly secret: KeyObject; readonly jwk: JsonObject }> | null = null;

  constructor(backend: StorageBackend) {
    this.#backend = backend;
  }

  /** The public part, as a JSON Web Key. */
  async jwk(): Promise<JsonObject> {
    return (await this.#load()).jwk;
  }

  /** The value of `Webhook-Signature`. */
  async signatureOf(body: string, nowMs = Date.now()): Promise<string> {
    const { secret, jwk } = await this.#load();
    const at = Math.floor(nowMs / 1_000);
    const signature = sign(null, Buffer.from(`${at}.${body}`), secret).toString('base64url');
    return `t=${at},kid=${String(jwk['kid'])},ed25519=${signature}`;
  }

  #load() {
    this.#key ??= this.#open();
    this.#key.catch(() => (this.#key = null));
    return this.#key;
  }

  async #open(): Promise<{ readonly secret: KeyObject; readonly jwk: JsonObject }> {
    const { documents } = this.#backend;
    if (!(await documents.read(KEY))) {
      const made = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' });
      await documents
        .write(KEY, { pem: made.toString() }, { ifVersion: null })
        .catch(async (thrown: unknown) => {
          if (!(await documents.read(KEY))) throw thrown; // another server made one
        });
    }
    const value = (await documents.read(KEY))?.value;
    if (!isJsonObject(value) || typeof value['pem'] !== 'string')
      throw new RekindleError('DOCUMENT_DAMAGED', 'The key that signs webhooks cannot be read.', {
        details: { name: [...KEY] },
      });
    const secret = createPrivateKey(value['pem']);
    const { x } = createPublicKey(secret).export({ format: 'jwk' });
    const kid = `ds_${createHash('sha256').update(String(x)).digest('base64url').slice(0, 16)}`;
    return { secret, jwk: { kty: 'OKP', crv: 'Ed25519', x: String(x), kid, use: 'sig', alg: 'EdDSA' } };
  }
}

/** @param allowsLocal see `webhookProblem` */
export function webhookCalls(key: WebhookKey, allowsLocal: boolean): CallWebhook {
  return async (call) => {
    const url = call.subscription.config.webhookUrl ?? '';
    const problem = webhookProblem(url, allowsLocal);
    if (problem) throw failed(`The webhook is not called: ${problem}.`);
    const body = JSON.stringify(bodyOf(call));
    const answer = await post(new URL(url), body, await key.signatureOf(body));
    return { done: isJsonObject(answer) && answer['done'] === true };
  };
}

function bodyOf({ subscription, wake, token, tails }: WakeCall): JsonObject {
  const { id, origin } = subscription;
  return {
    ...{ subscription_id: id, wake_id: wake.id, generation: wake.generation },
    streams: linksOf(subscription, tails),
    callback_url: `${origin}${STREAM_PREFIX}__ds/subscriptions/${encodeURIComponent(id)}/callback`,
    callback_token: token,
  };
}

/** Follows no redirect. */
async function post(url: URL, body: string, signature: string): Promise<JsonValue | undefined> {
  const isLocal = url.protocol === 'http:';
  const send = isLocal ? http.request : https.request;
  const options = {
    ...{ method: 'POST', signal: AbortSignal.timeout(ANSWER_MS), agent: false as const },
    ...(isLocal ? {} : { lookup: publicLookup }),
    headers: {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
      'Webhook-Signature': signature,
    },
  };
  return new Promise((resolve, reject) => {
    const request = send(url, options, (answer) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      answer.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > ANSWER_BYTES_MAX) request.destroy(failed('The answer of the webhook is too large.'));
        else chunks.push(chunk);
      });
      answer.on('end', () => {
        const status = answer.statusCode ?? 0;
        if (status < 200 || status > 299) reject(failed(`The webhook answered ${status}.`));
        else resolve(tryParseJson(Buffer.concat(chunks).toString('utf8')));
      });
      answer.on('error', reject);
    });
    request.on('error', (cause) => reject(failed('The webhook cannot be reached.', cause)));
    request.end(body);
  });
}

function failed(message: string, cause?: unknown): RekindleError {
  return new RekindleError('STORAGE_UNAVAILABLE', message, {
    ...(cause === undefined ? {} : { cause }),
    advice: 'The webhook is called again later. Check its address.',
  });
}
