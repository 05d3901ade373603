/** Nothing of a stream is delivered before it is durable. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { durableStream } from '../../../src/agent/model/durable-stream.js';
import type { AnswerPart } from '../../../src/memory/store/answer-parts.js';

type Item = string | AnswerPart;

/** A source that a test feeds, and a writer that writes when the test says so. */
class Pipe {
  readonly written: AnswerPart[] = [];
  readonly read: Item[] = [];
  /** Items that the stream took from the source. */
  taken = 0;
  closed = false;
  #waiting: (() => void)[] = [];
  #held: (() => void)[] = [];
  #items: (Item | Error | null)[] = [];
  #hold: boolean;
  readonly done: Promise<void>;

  constructor(
    options: { readonly hold?: boolean; readonly byLines?: boolean; readonly writes?: () => void } = {},
  ) {
    this.#hold = options.hold ?? false;
    const sink = {
      byLines: options.byLines ?? false,
      write: async (part: AnswerPart) => {
        if (this.#hold) await new Promise<void>((resolve) => this.#held.push(resolve));
        options.writes?.();
        this.written.push(part);
      },
    };
    const stream = durableStream<Item>(this.#source(), sink, (item) =>
      typeof item === 'string' ? null : item,
    );
    this.done = (async () => {
      for await (const item of stream) this.read.push(item);
    })();
    this.done.catch(() => {});
  }

  async *#source(): AsyncGenerator<Item> {
    try {
      while (true) {
        while (this.#items.length === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
        const item = this.#items.shift()!;
        if (item === null) return;
        if (item instanceof Error) throw item;
        this.taken += 1;
        yield item;
      }
    } finally {
      this.closed = true;
    }
  }

  /** Null ends the source; an error breaks it. */
  async feed(...items: (Item | Error | null)[]): Promise<void> {
    this.#items.push(...items);
    for (const resolve of this.#waiting.splice(0)) resolve();
    await sleep(5);
  }

  async release(): Promise<void> {
    for (const resolve of this.#held.splice(0)) resolve();
    await sleep(5);
  }
}

const text = (value: string): AnswerPart => ({ text: value });

describe('durableStream', () => {
  it('delivers an item when its text is written, and not before', async () => {
    const pipe = new Pipe({ hold: true });
    await pipe.feed(text('Hello'));
    expect(pipe.read).toEqual([]);
    await pipe.release();
    expect(pipe.written).toEqual([text('Hello')]);
    expect(pipe.read).toEqual([text('Hello')]);
  });

  it('writes in one commit what arrives while another runs, and delivers each item', async () => {
    const pipe = new Pipe({ hold: true });
    await pipe.feed(text('a'));
    await pipe.feed(text('b'), { reasoning: 'r' }, text('c'), null);
    await pipe.release();
    await pipe.release();
    await pipe.done;
    expect(pipe.written).toEqual([text('a'), { text: 'bc', reasoning: 'r' }]);
    expect(pipe.read).toEqual([text('a'), text('b'), { reasoning: 'r' }, text('c')]);
  });

  it('begins commits at least 25 ms apart while the model writes, and none later than needed', async () => {
    const times: number[] = [];
    const pipe = new Pipe({ writes: () => times.push(performance.now()) });
    await pipe.feed(text('word '));
    expect(times).toHaveLength(1);
    for (let word = 0; word < 20; word += 1) await pipe.feed(text('word '));
    await pipe.feed(null);
    await pipe.done;
    const pauses = times.slice(1, -1).map((time, index) => time - times[index]!);
    expect(pauses.length).toBeGreaterThan(2);
    for (const pause of pauses) expect(pause).toBeGreaterThan(23);
  });

  it('delivers at once what has no text, behind what waits', async () => {
    const pipe = new Pipe({ hold: true });
    await pipe.feed('start');
    expect(pipe.read).toEqual(['start']);
    await pipe.feed(text('a'), 'end');
    expect(pipe.read).toEqual(['start']);
    await pipe.release();
    expect(pipe.read).toEqual(['start', text('a'), 'end']);
  });

  it('throws the error of its source after everything that came before it', async () => {
    const pipe = new Pipe();
    await pipe.feed(text('a'), text('b'), new Error('reset'));
    await expect(pipe.done).rejects.toThrow('reset');
    expect(pipe.read).toEqual([text('a'), text('b')]);
    expect(pipe.written.map((part) => part.text).join('')).toBe('ab');
  });

  it('throws the error of a write, delivers nothing that was not written, and closes the source', async () => {
    let writes = 0;
    const pipe = new Pipe({
      writes: () => {
        writes += 1;
        if (writes === 2) throw new Error('disk full');
      },
    });
    await pipe.feed(text('a'));
    await pipe.feed(text('b'));
    await expect(pipe.done).rejects.toThrow('disk full');
    expect(pipe.read).toEqual([text('a')]);
    await pipe.feed(text('c'));
    expect(pipe.closed).toBe(true);
  });

  it('writes a beginning and a discarded answer alone, in their place', async () => {
    const pipe = new Pipe({ hold: true });
    await pipe.feed(text('a'), { discarded: true }, text('b'), text('c'), { begins: 7 }, text('d'), null);
    for (let commit = 0; commit < 6; commit += 1) await pipe.release();
    await pipe.done;
    expect(pipe.written).toEqual([...[text('a'), { discarded: true }, text('bc'), { begins: 7 }, text('d')]]);
  });

  it('reads the source no further than 1,000 items before its reader', async () => {
    const stream = { taken: 0 };
    async function* long(): AsyncGenerator<AnswerPart> {
      while (stream.taken < 20_000) {
        stream.taken += 1;
        yield text('x');
      }
    }
    const reader = durableStream(long(), { byLines: false, write: async () => {} }, (part) => part);
    await reader.next();
    await sleep(100);
    expect(stream.taken).toBeLessThan(2_100);
    await reader.return(undefined);
  });

  it('left by its reader closes the source and writes nothing more', async () => {
    const written: AnswerPart[] = [];
    let closed = false;
    async function* source(): AsyncGenerator<AnswerPart> {
      try {
        for (let word = 0; ; word += 1) {
          await sleep(5);
          yield text(`${word} `);
        }
      } finally {
        closed = true;
      }
    }
    const write = async (part: AnswerPart) => void written.push(part);
    for await (const _ of durableStream(source(), { byLines: false, write }, (part) => part)) break;
    const { length } = written;
    await sleep(60);
    expect(closed).toBe(true);
    expect(written).toHaveLength(length);
  });

  it('ends commits at the ends of lines for a redacted store', async () => {
    const pipe = new Pipe({ byLines: true });
    await pipe.feed(text('my pass'), text('word is '));
    expect(pipe.read).toEqual([]);
    await pipe.feed(text('x\n'), text('next'));
    expect(pipe.read).toEqual([text('my pass'), text('word is '), text('x\n')]);
    await pipe.feed(text('\nlast'), null);
    await pipe.done;
    expect(pipe.written.map((part) => part.text)).toEqual(['my password is x\n', 'next\nlast']);
  });
});
