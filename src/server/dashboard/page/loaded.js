/** Loads an answer of the server for a view. */
import { get } from './api.js';
import { useEffect, useState } from './preact.js';

/**
 * The answer, null until it is there; its error; and a function that loads it again.
 * @template T @param {string} address
 * @returns {{ answer: T | null, error: Error | null, reload: () => void }}
 */
export function useAnswer(address) {
  const [answer, setAnswer] = useState(/** @type {any} */ (null));
  const [error, setError] = useState(/** @type {Error | null} */ (null));
  const reload = () => void get(address).then(setAnswer, setError);
  useEffect(reload, [address]);
  return { answer, error, reload };
}
