/** Listens in the store's network namespace, and hands on to a Unix socket. Arguments: the socket, the port, the addresses. */
import { createConnection, createServer } from 'node:net';

const [socket = '', port = '0', ...addresses] = process.argv.slice(2);

for (const address of addresses) {
  const server = createServer((from) => {
    const to = createConnection(socket);
    from.on('error', () => to.destroy()).pipe(to);
    to.on('error', () => from.destroy()).pipe(from);
    from.on('close', () => to.destroy());
    to.on('close', () => from.destroy());
  });
  await new Promise<void>((resolve) => server.listen(Number(port), address, resolve));
}
process.stdin.on('end', () => process.exit(0)).resume(); // its campaign ended
console.log('ready');
