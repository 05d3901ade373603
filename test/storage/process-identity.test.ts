import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemIdentity } from '../../src/storage/process-identity.js';

/** A process that waits, and is ended after the test. */
async function waitingProcess(): Promise<ChildProcess & { pid: number }> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  await once(child, 'spawn');
  return child as ChildProcess & { pid: number };
}

describe('the identity of a process', () => {
  it('is running for this process, with a new nonce each time', () => {
    const [first, second] = [systemIdentity.owner(), systemIdentity.owner()];
    expect(first.pid).toBe(process.pid);
    expect(first.nonce).not.toBe(second.nonce);
    expect(systemIdentity.state(first)).toBe('running');
  });

  it('is running for another live process, gone once it has ended', async () => {
    const child = await waitingProcess();
    const owner = { ...systemIdentity.owner(), pid: child.pid, processStart: null };
    expect(systemIdentity.state(owner)).toBe('running');
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(systemIdentity.state(owner)).toBe('gone');
  });

  it('is running while the process is only stopped', async () => {
    const child = await waitingProcess();
    child.kill('SIGSTOP');
    expect(systemIdentity.state({ ...systemIdentity.owner(), pid: child.pid, processStart: null })).toBe(
      'running',
    );
  });

  it.runIf(process.platform === 'linux')('is gone when its pid was given to a later process', () => {
    const owner = systemIdentity.owner();
    expect(owner.processStart).toMatch(/^\d+$/);
    expect(systemIdentity.state({ ...owner, processStart: String(Number(owner.processStart) - 1) })).toBe(
      'gone',
    );
  });

  it('cannot be told for another machine, or for an entry of an earlier release', () => {
    const owner = systemIdentity.owner();
    expect(systemIdentity.state({ ...owner, host: 'elsewhere' })).toBe('unknown');
    expect(systemIdentity.state({ ...owner, host: owner.host.split('/').slice(0, 2).join('/') })).toBe(
      'unknown',
    );
  });

  it.runIf(process.platform === 'linux')('cannot be told for another PID namespace of one host name', () => {
    const owner = systemIdentity.owner();
    const [name, boot, namespace, machine] = owner.host.split('/');
    expect(namespace).toMatch(/^\d+$/);
    const elsewhere = { ...owner, pid: 2 ** 30, host: [name, boot, '4026532999', machine].join('/') };
    expect(systemIdentity.state(elsewhere)).toBe('unknown');
  });

  it.runIf(process.platform === 'linux')('is rebooted after another boot of the same machine', () => {
    const owner = systemIdentity.owner();
    const [name, , namespace, machine] = owner.host.split('/');
    const earlier = (id: string) => ({ ...owner, host: [name, '00000000', namespace, id].join('/') });
    if (machine) expect(systemIdentity.state(earlier(machine))).toBe('rebooted');
    expect(systemIdentity.state(earlier(''))).toBe('unknown');
    expect(systemIdentity.state(earlier('ffffffff'))).toBe('unknown');
  });

  it('is gone for a pid that cannot be', () => {
    expect(systemIdentity.state({ ...systemIdentity.owner(), pid: 2 ** 30 })).toBe('gone');
  });
});
