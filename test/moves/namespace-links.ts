/**
 * Each host in a network namespace of its own, and a third for the store, joined to each by a pair of virtual interfaces: a host is cut
 * off by taking its interface down. Nothing is added to the machine's own network: what arrives in the third namespace goes on through a
 * Unix socket, as files know no namespaces, to the server on 127.0.0.1.
 *
 * What is sent while an interface is down is sent again later: bytes are late, never lost, and both directions are cut.
 */
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createConnection, createServer, type Server } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Link } from './link.js';

const PORT = 5432;
const HOSTS = ['a', 'b'] as const;

const run = promisify(execFile);
const ip = (...args: string[]) => run('ip', args);

export interface NamespacesOptions {
  readonly folder: string;
  /** The folder with the relay's JavaScript. */
  readonly build: string;
  /** Of the server on 127.0.0.1. */
  readonly port: number;
}

/** @throws what `ip` says where there are no namespaces to be had: it needs root, and iproute2 */
export async function openNamespaceLinks({ folder, build, port }: NamespacesOptions): Promise<Link[]> {
  const name = (part: string) => `rekindle-${process.pid}-${part}`;
  const names = ['store', ...HOSTS].map(name);
  const removed = new Set<string>();
  const remove = () => {
    for (const one of names) if (!removed.has(one)) removeNamespace(one);
    for (const one of names) removed.add(one);
  };
  process.once('exit', remove);
  for (const one of names) await ip('netns', 'add', one);
  const addresses = HOSTS.map((_, index) => `10.213.${index}.1`);
  for (const [index, host] of HOSTS.entries()) {
    const [store, own, device] = [name('store'), name(host), `to-${host}`];
    await ip('-n', store, 'link', 'add', device, 'type', 'veth', 'peer', 'name', 'store', 'netns', own);
    await ip('-n', store, 'address', 'add', `${addresses[index]}/30`, 'dev', device);
    await ip('-n', own, 'address', 'add', `10.213.${index}.2/30`, 'dev', 'store');
    await ip('-n', own, 'link', 'set', 'store', 'up');
    await ip('-n', store, 'link', 'set', device, 'up');
  }
  const socket = path.join(folder, 'store');
  const server = await openSocket(socket, port);
  const relay = await startRelay(name('store'), [
    path.join(build, 'test/moves/relay-child.js'),
    socket,
    String(PORT),
    ...addresses,
  ]);
  let open = HOSTS.length;
  const close = async () => {
    open -= 1;
    if (open > 0) return;
    relay.kill('SIGKILL');
    server.close();
    remove();
  };
  return HOSTS.map((host, index) => {
    const address = { host: addresses[index] ?? '', port: PORT };
    return new NamespaceLink({ store: name('store'), own: name(host), device: `to-${host}`, address, close });
  });
}

function removeNamespace(name: string): void {
  try {
    execFileSync('ip', ['netns', 'delete', name], { stdio: 'ignore' });
  } catch {
    // it was not made
  }
}

async function openSocket(socket: string, port: number): Promise<Server> {
  const server = createServer((from) => {
    const to = createConnection({ host: '127.0.0.1', port });
    from.on('error', () => to.destroy()).pipe(to);
    to.on('error', () => from.destroy()).pipe(from);
    from.on('close', () => to.destroy());
    to.on('close', () => from.destroy());
  });
  server.listen(socket);
  await once(server, 'listening');
  return server;
}

async function startRelay(namespace: string, args: readonly string[]): Promise<ChildProcess> {
  const relay = spawn('ip', ['netns', 'exec', namespace, process.execPath, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  process.once('exit', () => relay.kill('SIGKILL'));
  await Promise.race([once(relay.stdout, 'data'), once(relay, 'close')]);
  if (relay.exitCode !== null) throw new RangeError(`The relay did not start in ${namespace}.`);
  return relay;
}

interface NamespaceLinkOptions {
  readonly store: string;
  readonly own: string;
  /** The store's end of the pair. */
  readonly device: string;
  readonly address: Link['address'];
  readonly close: () => Promise<void>;
}

class NamespaceLink implements Link {
  readonly command: readonly string[];
  readonly address: Link['address'];
  readonly #options: NamespaceLinkOptions;

  constructor(options: NamespaceLinkOptions) {
    this.command = ['ip', 'netns', 'exec', options.own, process.execPath];
    this.address = options.address;
    this.#options = options;
  }

  async cut(): Promise<void> {
    await this.#set('down');
  }

  async heal(): Promise<void> {
    await this.#set('up');
  }

  async #set(state: 'up' | 'down'): Promise<void> {
    await ip('-n', this.#options.store, 'link', 'set', this.#options.device, state);
  }

  /** The system ends what it gives up. */
  forget(): void {}

  close(): Promise<void> {
    return this.#options.close();
  }
}
