/** Loads answers of the server for a view. */
import { asError, get } from './api.js';
import { oneAtATime } from './one-at-a-time.js';
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

/**
 * Like `useAnswer`, for several addresses that are loaded again whenever a session changes or the connection comes back. The answers stay
 * null until all are there.
 * @param {import('./live.js').Live} live @param {readonly string[]} addresses
 * @returns {{ answers: readonly any[] | null, error: Error | null }}
 */
export function useSessionAnswers(live, addresses) {
  const [answers, setAnswers] = useState(/** @type {readonly any[] | null} */ (null));
  const [error, setError] = useState(/** @type {Error | null} */ (null));
  useEffect(() => {
    let isOver = false;
    const load = oneAtATime(async () => {
      try {
        const found = await Promise.all(addresses.map((address) => get(address)));
        if (isOver) return;
        setAnswers(found);
        setError(null);
      } catch (thrown) {
        if (!isOver) setError(asError(thrown));
      }
    });
    void load();
    const off = live.listen(({ type }) => {
      if (type === 'session_updated' || type === 'authenticated') void load();
    });
    return () => {
      isOver = true;
      off();
    };
  }, addresses);
  return { answers, error };
}
