/** Bounds the drawing for many events: once a frame. */
import { useEffect, useMemo, useState } from './preact.js';

/** The returned function draws the view again, at most once a frame, however often it is called. */
export function useRedraw() {
  const [, setCount] = useState(0);
  const frames = useMemo(() => {
    let id = 0;
    const draw = () => {
      id = 0;
      setCount((count) => count + 1);
    };
    return {
      ask: () => {
        if (id === 0) id = requestAnimationFrame(draw);
      },
      stop: () => cancelAnimationFrame(id),
    };
  }, []);
  useEffect(() => frames.stop, []);
  return frames.ask;
}
