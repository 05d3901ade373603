/** How the command line prints an error: message and code, what to do, and the details that the advice names. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { showError } from '../../src/cli/command-context.js';
import { RekindleError } from '../../src/core/errors.js';

afterEach(() => {
  vi.restoreAllMocks();
});

function shown(error: RekindleError): string[] {
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  showError(error, false);
  return String(write.mock.calls[0]?.[0]).trimEnd().split('\n');
}

describe('an error on the command line', () => {
  it('has the detail that its advice names below it, and no other', () => {
    const details = { type: 'list', key: 'k' };
    expect(shown(new RekindleError('TYPE_MISMATCH', 'No.', { details }))).toEqual([
      'No. (TYPE_MISMATCH)',
      'The operation does not fit the value that is stored; see `type`. Nothing was changed.',
      '  type: "list"',
    ]);
  });

  it('has all details below it when its advice names them as a whole', () => {
    const details = { file: 'a.json', line: 3 };
    const [head, advice, ...rest] = shown(new RekindleError('DOCUMENT_DAMAGED', 'No.', { details }));
    expect(head).toBe('No. (DOCUMENT_DAMAGED)');
    expect(advice).toContain('see below');
    expect(rest).toEqual(['  file: "a.json"', '  line: 3']);
  });

  it('names no field of the library', () => {
    for (const code of ['LEASE_HELD', 'AGENT_NOT_FOUND', 'INVALID_ARGUMENT', 'LIMIT_EXCEEDED'] as const)
      expect(shown(new RekindleError(code, 'No.')).join('\n')).not.toMatch(/details|waitMs|createAgent/);
  });
});
