/** The names of one tenant: each is below the tenant's folder in the store, and is shown without it. */
import path from 'node:path';
import { isRekindleError, RekindleError } from '../../core/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.js';
import { encodeNameSegment } from '../name-encoding.js';
import { keyOf } from '../name-key.js';
import type { Name } from '../ports.js';

/** The folder of all tenants of a store. */
export const TENANTS: Name = ['tenants'];

/** The name within its tenant, if it is one of a tenant. */
export function withoutTenants(name: Name): Name {
  return name.length > 2 && name[0] === TENANTS[0] ? withoutTenants(name.slice(2)) : name;
}

/** Translates names between a tenant and its store. */
export class TenantNames {
  readonly #tenant: string;
  readonly #prefix: Name;
  /** Matches the tenant's folder where a text starts to name something in the store, plain or encoded. */
  readonly #inText: RegExp;

  /** @throws INVALID_NAME */
  constructor(tenant: string) {
    assertTenant(tenant);
    this.#tenant = tenant;
    this.#prefix = [...TENANTS, tenant];
    const forms = [this.#prefix.join('/'), keyOf(this.#prefix)].map((form) => escaped(form));
    this.#inText = new RegExp(`(?<![^\\s"'\`(\\[])(?:${forms.join('|')})/`, 'g');
  }

  /** Where the tenant is in the store. */
  get folder(): Name {
    return this.#prefix;
  }

  /** The name in the store. @throws INVALID_ARGUMENT for a name without a segment, INVALID_NAME */
  within(name: Name): Name {
    keyOf(name);
    return [...this.#prefix, ...name];
  }

  /** Like `within`; the empty prefix is the whole tenant. @throws INVALID_NAME */
  below(prefix: Name): Name {
    return prefix.length === 0 ? this.#prefix : this.within(prefix);
  }

  /** The tenant's name of a name in the store. */
  shown(name: Name): Name {
    return name.slice(this.#prefix.length);
  }

  /** A text that starts with a name in the store. */
  shownPlace(place: string): string {
    return place.replace(this.#inText, '');
  }

  /** The location of the tenant, for people: its folder, or the address that opens it. */
  placeIn(place: string): string {
    if (path.isAbsolute(place)) return path.join(place, ...this.#prefix.map(encodeNameSegment));
    return `${place}${place.includes('?') ? '&' : '?'}tenant=${encodeURIComponent(this.#tenant)}`;
  }

  /** Runs a call of the store. Its errors have the tenant's names. */
  async run<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (thrown) {
      throw this.#shownError(thrown);
    }
  }

  #shownError(thrown: unknown): unknown {
    if (!isRekindleError(thrown)) return thrown;
    const { code, message, details, advice, cause, stack } = thrown;
    const shown = new RekindleError(code, this.shownPlace(message), {
      details: this.#shownValue(details) as JsonObject,
      advice,
      ...(cause === undefined ? {} : { cause }),
    });
    if (stack !== undefined) shown.stack = stack.replace(message, shown.message);
    return shown;
  }

  #shownValue(value: JsonValue): JsonValue {
    if (typeof value === 'string') return this.shownPlace(value);
    if (Array.isArray(value)) {
      const isOurs =
        value.length > this.#prefix.length && this.#prefix.every((part, at) => value[at] === part);
      return isOurs ? value.slice(this.#prefix.length) : value.map((item) => this.#shownValue(item));
    }
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.#shownValue(item)]));
  }
}

/** A folder with this ending would be read as the archive of a journal. */
const ARCHIVE = /\.archive$/i;

/** @throws INVALID_NAME */
function assertTenant(tenant: string): void {
  encodeNameSegment(tenant);
  if (!ARCHIVE.test(tenant)) return;
  const problem = 'it ends like the archive of a journal';
  throw new RekindleError(
    'INVALID_NAME',
    `The tenant ${JSON.stringify(tenant)} is not allowed: ${problem}.`,
    {
      details: { name: tenant, problem },
    },
  );
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
