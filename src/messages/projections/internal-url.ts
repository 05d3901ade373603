/**
 * Finds web addresses outside the public internet: this machine, private networks, cloud metadata services.
 *
 * Providers fetch URLs that a request contains, and the AI SDK fetches them on the host's machine. An image URL from a
 * transcript or a tool must not make them read an internal network. Only the URL is checked; public names are not
 * resolved.
 */

const INTERNAL_NAME =
  /(?:^|\.)(?:localhost|local|localdomain|internal|intranet|lan|home|corp|private|home\.arpa)$/;

/** First and last address of each range, as numbers. */
const RANGES: readonly (readonly [number, number])[] = (
  [
    ['0.0.0.0', 8],
    ['10.0.0.0', 8],
    ['100.64.0.0', 10],
    ['127.0.0.0', 8],
    ['169.254.0.0', 16],
    ['172.16.0.0', 12],
    ['192.0.0.0', 24],
    ['192.168.0.0', 16],
    ['198.18.0.0', 15],
    ['224.0.0.0', 3],
  ] as const
).map(([first, bits]) => {
  const start = numberOf(first);
  return [start, start + 2 ** (32 - bits) - 1];
});

/** False for anything but a web address. */
export function isInternalUrl(url: string): boolean {
  if (!/^https?:/i.test(url) || !URL.canParse(url)) return false;
  // The URL parser normalizes every spelling of an address (`0x7f.1`, `2130706433`).
  const host = new URL(url).hostname.toLowerCase().replace(/\.$/, '');
  if (host.startsWith('[')) return isInternalV6(host.slice(1, -1));
  if (/^\d{1,3}(?:\.\d{1,3}){3}$/.test(host)) return isInternalV4(numberOf(host));
  return !host.includes('.') || INTERNAL_NAME.test(host);
}

/** The same for an address as the system writes it: `10.0.0.1`, `fe80::1%eth0`, `::ffff:10.0.0.1`. */
export function isInternalAddress(address: string): boolean {
  const url = `https://${address.includes(':') ? `[${address.replace(/%.*$/, '')}]` : address}/`;
  return !URL.canParse(url) || isInternalUrl(url);
}

function isInternalV4(address: number): boolean {
  return RANGES.some(([first, last]) => address >= first && address <= last);
}

/** Unspecified, loopback, unique local, link-local, multicast; also embedded IPv4 addresses. */
function isInternalV6(address: string): boolean {
  if (address === '::' || address === '::1') return true;
  if (/^f[cd]|^fe[89a-f]|^ff/.test(address)) return true;
  const inner = /^(?:::ffff:|::|64:ff9b::)([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(address);
  if (!inner) return false;
  return isInternalV4(Number.parseInt(inner[1]!, 16) * 65536 + Number.parseInt(inner[2]!, 16));
}

function numberOf(address: string): number {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
}
