/** Requests to the server. The token is stored in this tab's session storage, never in the address. */

const KEY = 'rekindle-token';

/** What may follow `#token=`; anything else cannot be a token. */
const GIVEN = /^[\x21-\x7e]+$/;

/**
 * Stores a token from the address's fragment and removes it from the address and the browser history, also if
 * it cannot be a token.
 */
export function takeToken() {
  if (location.hash.startsWith('#token=')) {
    const given = decoded(location.hash.slice('#token='.length), '');
    history.replaceState(null, '', '/#/sessions');
    if (GIVEN.test(given)) sessionStorage.setItem(KEY, given);
  }
  return token();
}

/** @param {string} text @param {string} otherwise for a damaged text */
export function decoded(text, otherwise = text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return otherwise;
  }
}

export function token() {
  return sessionStorage.getItem(KEY);
}

/** @param {string | null} value */
export function setToken(value) {
  if (value === null) sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, value);
}

export class RequestError extends Error {
  /** @param {number} status @param {{ code?: string, detail?: string, advice?: string } | null} problem */
  constructor(status, problem) {
    super(problem?.detail ?? `The server answered ${status}.`);
    this.status = status;
    this.code = problem?.code ?? 'UNKNOWN';
    this.advice = problem?.advice ?? '';
  }
}

/**
 * The caller declares the type; tests check the server against its schemas. @param {string} path @returns
 * {Promise<any>}
 */
export function get(path) {
  return request(path, {});
}

/** @param {string} path @param {object} body @returns {Promise<any>} as `get` */
export function post(path, body) {
  const headers = { 'Content-Type': 'application/json' };
  return request(path, { method: 'POST', headers, body: JSON.stringify(body) });
}

/** @param {string} path @param {RequestInit} init @returns {Promise<any>} */
async function request(path, init) {
  const headers = { ...init.headers, Authorization: `Bearer ${token() ?? ''}` };
  const response = await fetch(path, { ...init, headers }).catch(() => {
    throw new RequestError(0, {
      code: 'UNREACHABLE',
      detail: 'The server does not respond. Check that it is running.',
    });
  });
  const body = await response.json().catch(() => null);
  if (!response.ok) throw new RequestError(response.status, body);
  return body;
}

/** One segment of a path. @param {string} text */
export function segment(text) {
  return encodeURIComponent(text);
}

/** @param {unknown} thrown */
export function asError(thrown) {
  return thrown instanceof Error ? thrown : new RequestError(0, { detail: String(thrown) });
}
