/**
 * Aider's chat history (`.aider.chat.history.md`): Markdown to which every session of a project is appended. It is read as
 * aider itself reads it back: all sessions are one conversation, and aider's own output is not part of it.
 */
import type { Message } from '../../message.js';
import type { LossAccount } from '../loss-account.js';
import { keepMessage } from '../reading/keep-message.js';
import { type TextLine, textLines } from '../reading/split-lines.js';
import type { TranscriptImporter, TranscriptItem, TranscriptSource } from '../transcript.js';
import { linesInFences } from './code-fences.js';
import { LineBlock, noMessages, textOfLines } from './line-block.js';

const SESSION = /^# aider chat started at (.*)$/;
const ASKED = '#### ';
const LINE_END = '  ';
/** Aider writes this where the person sent nothing. */
const BLANK = '<blank>';

export const aiderImporter: TranscriptImporter = {
  format: 'aider',
  title: 'Aider chat histories',
  lookedFor: 'Markdown that begins with `# aider chat started at`; `#### ` before what the user said',
  recognises: ({ shape, items }) => {
    const first = shape === 'text' && items.find((line) => typeof line === 'string' && line.trim() !== '');
    return typeof first === 'string' && SESSION.test(first);
  },
  read,
};

async function* read(source: TranscriptSource, losses: LossAccount): AsyncGenerator<TranscriptItem> {
  const reader = new AiderReader(losses);
  for await (const line of textLines(source.chunks())) yield* reader.read(line);
  yield* reader.end();
  if (!reader.hasMessages) throw noMessages(source, aiderImporter);
}

class AiderReader {
  hasMessages = false;
  readonly #losses: LossAccount;
  readonly #asked = new LineBlock();
  /** What follows a message of the user: answers, and output of aider. */
  readonly #rest = new LineBlock();
  /** Before the first question of a session there is no answer. */
  #hasAsked = false;
  /** Whether the first line of the user ends with two spaces, as aider writes them: then headings of answers do not. */
  #hasLineEnds: boolean | null = null;
  /** Start of the session, for its first message. In seconds. */
  #startedAt: number | undefined;

  constructor(losses: LossAccount) {
    this.#losses = losses;
  }

  *read(line: TextLine): Generator<TranscriptItem> {
    const [, started] = SESSION.exec(line.text) ?? [];
    if (started !== undefined) {
      yield* this.end();
      this.#begin(started, `line ${line.line}`);
    } else if (this.#isAsked(line.text)) {
      yield* this.#answers();
      this.#asked.add(line);
    } else {
      yield* this.#question();
      this.#rest.add(line);
    }
  }

  *end(): Generator<TranscriptItem> {
    yield* this.#question();
    yield* this.#answers();
  }

  /** The time has no zone. */
  #begin(started: string, place: string): void {
    this.#hasAsked = false;
    this.#losses.record();
    const [, day, time] = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)/.exec(started) ?? [];
    const parsed = Date.parse(`${day}T${time}Z`);
    this.#startedAt = Number.isFinite(parsed) ? parsed / 1000 : undefined;
    if (this.#startedAt === undefined) this.#losses.drop('the start of a session', place);
    else this.#losses.approximate('the local time of a session, as UTC', place);
  }

  #isAsked(text: string): boolean {
    const isInside = !this.#asked.isEmpty;
    if (isInside && text === ASKED.trimEnd()) return true; // an empty line that lost its white space
    if (!text.startsWith(ASKED)) return false;
    this.#hasLineEnds ??= text.endsWith(LINE_END);
    return isInside || !this.#hasLineEnds || text.endsWith(LINE_END);
  }

  *#question(): Generator<TranscriptItem> {
    if (this.#asked.isEmpty) return;
    const lines = this.#asked.take();
    const place = `line ${lines[0]!.line}`;
    this.#losses.record();
    this.#hasAsked = true;
    const content = textOfLines(lines.map(({ text, line }) => ({ line, text: saidIn(text) })));
    if (content === '' || content === BLANK) this.#losses.drop('an empty message', place);
    else {
      if (/^[/!]/.test(content))
        this.#losses.approximate('a command to aider, as a message of the user', place);
      yield this.#item({ role: 'user', content });
    }
  }

  *#answers(): Generator<TranscriptItem> {
    const lines = this.#rest.take();
    for (const { isOutput, of } of segmentsOf(lines, this.#hasAsked)) {
      const content = textOfLines(of);
      if (content === '') continue;
      this.#losses.record();
      if (isOutput) this.#losses.drop('output of aider and its commands', `line ${of[0]!.line}`);
      else yield this.#item({ role: 'assistant', content });
    }
  }

  #item(message: Message): TranscriptItem {
    keepMessage(message, this.#losses);
    this.hasMessages = true;
    const ts = this.#startedAt;
    this.#startedAt = undefined;
    return { kind: 'message', message, ...(ts === undefined ? {} : { ts }) };
  }
}

function saidIn(text: string): string {
  const said = text.slice(ASKED.length);
  return said.endsWith(LINE_END) ? said.slice(0, -LINE_END.length) : said;
}

interface Segment {
  readonly isOutput: boolean;
  readonly of: TextLine[];
}

/** Quotes are output of aider, except in code. Blank lines end nothing. */
function segmentsOf(lines: readonly TextLine[], hasAsked: boolean): Segment[] {
  const inFence = linesInFences(lines);
  const segments: Segment[] = [];
  for (const [at, line] of lines.entries()) {
    const last = segments.at(-1);
    const isOutput = !hasAsked || (inFence[at] === 0 && /^>(?: |$)/.test(line.text));
    if (last && (last.isOutput === isOutput || line.text.trim() === '')) last.of.push(line);
    else if (line.text.trim() !== '') segments.push({ isOutput, of: [line] });
  }
  return segments;
}
