/** `rekindle unlock`, while this process has the agent open. */
import { describe, expect, it } from 'vitest';
import { FileStorage } from '../../src/storage/file/file-storage.js';
import { CLI_TIMEOUT_MS, conversation, inFolder, runCli } from './cli-fixture.js';

describe.concurrent('unlock', { timeout: CLI_TIMEOUT_MS }, () => {
  it('says who has the agent, changes nothing, and takes it from a living owner with --force only', () =>
    inFolder(async (dir) => {
      await conversation(dir, 'ada', ['Hi.']);
      const free = await runCli(['unlock', 'ada', '-d', dir]);
      expect(free).toMatchObject({ code: 0, stdout: 'Agent ada is not open anywhere.\n' });

      const storage = new FileStorage(dir);
      const lease = await storage.leases.acquire(['agents', 'ada']);
      const [shown, kept] = await Promise.all([
        runCli(['unlock', 'ada', '-d', dir]),
        runCli(['unlock', 'ada', '--yes', '-d', dir]),
      ]);
      expect(shown.code).toBe(4);
      expect(shown.stdout).toContain(`Agent ada is open in process ${process.pid} on `);
      expect(shown.stdout).toContain('rekindle unlock --force');
      expect(kept).toMatchObject({ code: 4, stderr: expect.stringContaining('(LEASE_HELD)') as string });
      await lease.check();

      const taken = await runCli(['unlock', 'ada', '--force', '--json', '-d', dir]);
      expect(JSON.parse(taken.stdout)).toMatchObject({
        agentId: 'ada',
        unlocked: true,
        fence: lease.fence + 1,
      });
      await expect(lease.check()).rejects.toMatchObject({ code: 'LEASE_LOST' });
      await (await storage.leases.acquire(['agents', 'ada'])).release();
      await storage.close();
    }));
});
