import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { CLI_TIMEOUT_MS, inFolder, runCli } from './cli-fixture.js';

describe('demo', { timeout: CLI_TIMEOUT_MS }, () => {
  it('kills an agent in the middle of a tool call and brings it back, without a second invoice', () =>
    inFolder(async (cwd) => {
      const shown = await runCli(['demo'], { cwd });
      expect(shown).toMatchObject({ code: 0, stderr: '' });
      expect(shown.stdout).toContain('is killed with SIGKILL while the tool runs');
      expect(shown.stdout).toContain('Interrupted call send_invoice (call_invoice): it was running');
      expect(shown.stdout).toContain('I did not send it again.');
      expect(shown.stdout).toContain('You told me: order 4711 ships on Friday.');
      expect(shown.stdout).toContain('Invoices sent: 1. Everything is in rekindle-demo;');
      const outbox = path.join(cwd, 'rekindle-demo', 'outbox.txt');
      expect(await readFile(outbox, 'utf8')).toBe('invoice for order 4711\n');

      // A second demo leaves the first one alone.
      const again = await runCli(['demo', '--json'], { cwd });
      expect(again).toMatchObject({ code: 0, stderr: '' });
      const result = JSON.parse(again.stdout) as Record<string, unknown>;
      expect(Object.keys(result)).toEqual(['killedPid', 'report', 'answers', 'invoicesSent', 'dir']);
      expect(result).toMatchObject({
        invoicesSent: 1,
        dir: path.join(cwd, 'rekindle-demo-2'),
        report: { agentId: 'order-desk', interruptedCalls: [{ verdict: 'outcome_unknown' }] },
      });
      expect(await readFile(outbox, 'utf8')).toBe('invoice for order 4711\n');
    }));
});
