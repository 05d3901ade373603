import { describe, expect, it } from 'vitest';
import { excerpt, safeText } from '../../src/cli/safe-text.js';

describe('safeText', () => {
  it.each([
    ['a colour', '\u001b[31mred', '\\u001b[31mred'],
    ['a window title', '\u001b]0;x\u0007', '\\u001b]0;x\\u0007'],
    ['a control sequence of one byte', '\u009b2J', '\\u009b2J'],
    ['a change of direction', 'a\u202eb\u2066c', 'a\\u202eb\\u2066c'],
    ['a backspace', 'ok\b\b', 'ok\\u0008\\u0008'],
  ])('shows %s', (_, text, shown) => {
    expect(safeText(text)).toBe(shown);
  });

  it('keeps newlines, tabs and every script', () => {
    expect(safeText('a\n\tb čšž 日本語 🙂')).toBe('a\n\tb čšž 日本語 🙂');
  });

  it('takes a carriage return away, which would write over the line', () => {
    expect(safeText('safe\rEVIL')).toBe('safeEVIL');
  });
});

describe('excerpt', () => {
  it('is one line of at most so many characters', () => {
    expect(excerpt('  one\n two   three ', 40)).toBe('one two three');
    expect(excerpt('one two three', 10)).toBe('one two...');
  });

  it('does not cut a character in two', () => {
    expect(excerpt('🙂🙂🙂🙂', 6)).toBe('🙂\ufffd...');
    expect(excerpt('🙂🙂🙂🙂', 7)).toBe('🙂🙂...');
  });
});
