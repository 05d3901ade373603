/** A spinner with a text, or a bar if the total is known; on a terminal only. */
import { Presets, SingleBar } from 'cli-progress';
import ora from 'ora';

export interface Progress {
  say(text: string): void;
  end(): void;
}

export function startProgress(text: string, enabled: boolean): Progress {
  if (!enabled || !process.stderr.isTTY) return { say: () => {}, end: () => {} };
  const spinner = ora({ text, stream: process.stderr }).start();
  return {
    say: (line) => {
      spinner.text = line;
    },
    end: () => void spinner.stop(),
  };
}

export interface ProgressBar {
  /** The completed amount, in the unit of the total. */
  set(done: number): void;
  end(): void;
}

export function startBar(text: string, total: number, enabled: boolean): ProgressBar {
  if (!enabled || !process.stderr.isTTY || total <= 0) return { set: () => {}, end: () => {} };
  const format = `${text} {bar} {percentage}%`;
  const bar = new SingleBar(
    { format, stream: process.stderr, hideCursor: true, clearOnComplete: true },
    Presets.shades_classic,
  );
  bar.start(total, 0);
  return { set: (done) => bar.update(Math.min(done, total)), end: () => bar.stop() };
}
