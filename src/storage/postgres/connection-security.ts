/** Encryption of connections: TLS with a verified certificate, unless the server is on this machine or the URL says otherwise. */
import { isIPv4 } from 'node:net';
import type { ClientConfig } from 'pg';
import { messageOf, RekindleError } from '../../core/errors.js';

/**
 * @param config with the user's URL
 * @returns the same, with TLS if the host is remote and neither the URL nor PGSSLMODE configures it
 */
export function withSecurity(pg: Pick<typeof import('pg'), 'Client'>, config: ClientConfig): ClientConfig {
  // Uses the driver's own parsing of URL and environment, so that both mean the same host.
  const { host, ssl } = new pg.Client(config) as unknown as { readonly host?: string; readonly ssl: unknown };
  if (ssl || isLocal(host ?? '') || isSwitchedOff(config.connectionString ?? '')) return config;
  return { ...config, ssl: true };
}

function isLocal(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[|\]$/g, '');
  if (name === '' || name.startsWith('/')) return true; // a socket in the file system
  if (isIPv4(name)) return name.startsWith('127.');
  return name === 'localhost' || name.endsWith('.localhost') || name === '::1';
}

function isSwitchedOff(url: string): boolean {
  const query = new URL(url).searchParams;
  const given = query.get('sslmode') ?? (query.has('ssl') ? null : (process.env['PGSSLMODE'] ?? null));
  return given === 'disable' || ['false', '0'].includes(query.get('ssl') ?? '');
}

const NOT_OFFERED = /server does not support SSL/i;
/** Node's error codes for certificates and handshakes. */
const CERTIFICATE =
  /^(?:CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA)/;

/** Null if the connection failed for another reason. */
export function tlsFailure(thrown: unknown, place: string): RekindleError | null {
  const { code } = thrown as { readonly code?: unknown };
  const isCertificate = typeof code === 'string' && CERTIFICATE.test(code);
  if (!isCertificate && !NOT_OFFERED.test(messageOf(thrown))) return null;
  const message = isCertificate
    ? `The certificate of ${place} is not accepted: ${messageOf(thrown)}.`
    : `${place} is on another machine and offers no TLS; nothing was sent to it.`;
  return new RekindleError('TLS_FAILED', message, {
    details: { reason: isCertificate ? 'certificate' : 'not-offered', place },
    cause: thrown,
  });
}
