import { describe, expect, it } from 'vitest';
import { TypedEvents } from '../../src/core/events.js';

type Events = { tick: number; tock: string };

describe('TypedEvents', () => {
  it('tells each listener, in the order in which they were added', () => {
    const events = new TypedEvents<Events>();
    const seen: string[] = [];
    events.on('tick', (n) => seen.push(`a${n}`));
    events.on('tick', (n) => seen.push(`b${n}`));
    events.on('tock', (text) => seen.push(text));
    events.emit('tick', 1);
    events.emit('tock', 't');
    expect(seen).toStrictEqual(['a1', 'b1', 't']);
  });

  it('stops telling a listener that was taken away, also while it emits', () => {
    const events = new TypedEvents<Events>();
    const seen: number[] = [];
    const off = events.on('tick', (n) => {
      seen.push(n);
      off();
    });
    events.emit('tick', 1);
    events.emit('tick', 2);
    expect(seen).toStrictEqual([1]);
  });

  it('adds one listener once', () => {
    const events = new TypedEvents<Events>();
    let count = 0;
    const listener = () => {
      count += 1;
    };
    events.on('tick', listener);
    events.on('tick', listener);
    events.emit('tick', 1);
    expect(count).toBe(1);
  });

  it('reports what a listener throws and goes on with the others', () => {
    const events = new TypedEvents<Events>();
    const reported: unknown[] = [];
    const seen: number[] = [];
    events.onListenerError = (thrown) => reported.push(thrown);
    events.on('tick', () => {
      throw new Error('bad listener');
    });
    events.on('tick', (n) => seen.push(n));
    events.emit('tick', 3);
    expect(seen).toStrictEqual([3]);
    expect(reported).toStrictEqual([new Error('bad listener')]);
  });

  it('says nothing when nobody listens', () => {
    expect(() => new TypedEvents<Events>().emit('tick', 1)).not.toThrow();
  });
});
