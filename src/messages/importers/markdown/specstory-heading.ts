/** The line that begins a message of a SpecStory file, with what its brackets say. */

export interface SpecStoryHeading {
  readonly isUser: boolean;
  readonly isSubAgent: boolean;
  readonly model: string | undefined;
  /** In seconds. */
  readonly ts: number | undefined;
}

const HEADING = /^_\*\*(User|Agent|Assistant)( - sidechain)?(?: \(([^()]{0,200})\))?\*\*_\s*$/;
const TIME = /(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d(?::\d\d)?)Z?/;

/** Null for any other line. */
export function specStoryHeadingOf(text: string): SpecStoryHeading | null {
  const [found, who, side, about = ''] = HEADING.exec(text) ?? [];
  if (found === undefined) return null;
  const isUser = who === 'User';
  return {
    isUser,
    isSubAgent: side !== undefined,
    model: isUser ? undefined : modelIn(about),
    ts: timeIn(about),
  };
}

/** `(claude-x 2026-01-02 03:04:05Z)`, `(model claude-x, mode Agent)` or `(claude-x)`. */
function modelIn(about: string): string | undefined {
  const [, model] = /^(?:model )?([\w.:/@-]+)/.exec(about.replace(TIME, '').trim()) ?? [];
  return model;
}

function timeIn(about: string): number | undefined {
  const [, day, time] = TIME.exec(about) ?? [];
  const parsed = Date.parse(`${day}T${time}Z`);
  return Number.isFinite(parsed) ? parsed / 1000 : undefined;
}
