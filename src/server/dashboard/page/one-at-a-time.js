/** Bounds the requests for many events: one at a time, with a pause. */

/** Shortest time between two requests that events cause, in ms. */
const PAUSE_MS = 200;

/**
 * A call while `load` runs is remembered, and runs it once more: the last result is never older than the last
 * call. `load` handles its own errors. @param {() => Promise<void>} load
 */
export function oneAtATime(load) {
  let isRunning = false;
  let isWanted = false;
  return async () => {
    isWanted = true;
    if (isRunning) return;
    isRunning = true;
    while (isWanted) {
      isWanted = false;
      await load();
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    isRunning = false;
  };
}
