/** A spinner with a text, on a terminal only. */
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
