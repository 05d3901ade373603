/** A server on 127.0.0.1 that follows the public Databricks Files API for one volume. Knows nothing of Rekindle. */
import http from 'node:http';
import type { AddressInfo } from 'node:net';

interface StoredFile {
  readonly bytes: Buffer;
  readonly modifiedMs: number;
}

const PAGE_MAX = 1_000;

export class UcVolumesServer {
  readonly volume = '/Volumes/main/agents/state';
  readonly token: string;
  readonly #files = new Map<string, StoredFile>();
  readonly #folders = new Set([this.volume]);
  readonly #server = http.createServer((request, response) => void this.#serve(request, response));

  private constructor(token: string) {
    this.token = token;
  }

  static async start(token = 'dapi-0123456789abcdef'): Promise<UcVolumesServer> {
    const server = new UcVolumesServer(token);
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** As another client would: with the files below. */
  removeFolder(path: string): void {
    for (const file of this.#files.keys()) if (file.startsWith(`${path}/`)) this.#files.delete(file);
    for (const folder of this.#folders)
      if (folder === path || folder.startsWith(`${path}/`)) this.#folders.delete(folder);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: http.IncomingMessage, response: http.ServerResponse): Promise<http.ServerResponse> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const given = request.headers.authorization ?? '';
    // The real one does not repeat the token; a proxy in front of it may.
    if (given !== `Bearer ${this.token}`)
      return refuse(response, 401, 'UNAUTHENTICATED', `Invalid: ${given}`);
    const url = new URL(request.url ?? '', this.url);
    const [, kind, encoded = ''] = /^\/api\/2\.0\/fs\/(files|directories)(\/.*)$/.exec(url.pathname) ?? [];
    const path = encoded.split('/').map(decodeURIComponent).join('/');
    const call = `${request.method} ${kind}`;
    if (call === 'PUT files') return this.#putFile(response, path, Buffer.concat(chunks), url.searchParams);
    if (call === 'GET files' || call === 'HEAD files') return this.#getFile(response, path);
    if (call === 'DELETE files') return this.#deleteFile(response, path);
    if (call === 'PUT directories') return this.#makeFolder(response, path);
    if (call === 'GET directories') return this.#list(response, path, url.searchParams);
    return refuse(response, 400, 'INVALID_PARAMETER_VALUE', 'No such endpoint.');
  }

  #putFile(
    response: http.ServerResponse,
    path: string,
    bytes: Buffer,
    query: URLSearchParams,
  ): http.ServerResponse {
    if (!this.#folders.has(parentOf(path))) return refuse(response, 404, 'NOT_FOUND', 'No such directory.');
    if (this.#folders.has(path)) return refuse(response, 409, 'ALREADY_EXISTS', 'It is a directory.');
    if (this.#files.has(path) && query.get('overwrite') !== 'true')
      return refuse(response, 409, 'ALREADY_EXISTS', 'The file exists.');
    this.#files.set(path, { bytes, modifiedMs: Date.now() });
    return response.writeHead(204).end();
  }

  /** For HEAD, `http` leaves the body out. */
  #getFile(response: http.ServerResponse, path: string): http.ServerResponse {
    const file = this.#files.get(path);
    if (!file) return refuse(response, 404, 'NOT_FOUND', 'No such file.');
    const headers = {
      'content-length': file.bytes.length,
      'content-type': 'application/octet-stream',
      'last-modified': new Date(file.modifiedMs).toUTCString(),
    };
    return response.writeHead(200, headers).end(file.bytes);
  }

  #deleteFile(response: http.ServerResponse, path: string): http.ServerResponse {
    if (!this.#files.delete(path)) return refuse(response, 404, 'NOT_FOUND', 'No such file.');
    return response.writeHead(204).end();
  }

  #makeFolder(response: http.ServerResponse, path: string): http.ServerResponse {
    if (!path.startsWith(`${this.volume}/`)) return refuse(response, 404, 'NOT_FOUND', 'No such volume.');
    for (let folder = path; folder !== this.volume; folder = parentOf(folder)) {
      if (this.#files.has(folder)) return refuse(response, 409, 'ALREADY_EXISTS', 'A file is in the way.');
      this.#folders.add(folder);
    }
    return response.writeHead(204).end();
  }

  /** `contents` and `next_page_token` are left out where there is nothing to tell. */
  #list(response: http.ServerResponse, path: string, query: URLSearchParams): http.ServerResponse {
    if (!this.#folders.has(path)) return refuse(response, 404, 'NOT_FOUND', 'No such directory.');
    const entries = [
      ...[...this.#folders].filter((folder) => folder !== this.volume).map((folder) => this.#entry(folder)),
      ...[...this.#files.keys()].map((file) => this.#entry(file)),
    ].filter((entry) => parentOf(entry.path) === path);
    const first = Number(query.get('page_token') ?? 0);
    const end = first + Math.min(Number(query.get('page_size') ?? PAGE_MAX), PAGE_MAX);
    const contents = entries.slice(first, end);
    const answer = {
      ...(contents.length > 0 ? { contents } : {}),
      ...(end < entries.length ? { next_page_token: String(end) } : {}),
    };
    return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  }

  #entry(path: string) {
    const file = this.#files.get(path);
    const entry = { path, name: path.slice(path.lastIndexOf('/') + 1), is_directory: !file };
    return file ? { ...entry, file_size: file.bytes.length, last_modified: file.modifiedMs } : entry;
  }
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

function refuse(response: http.ServerResponse, status: number, error_code: string, message: string) {
  return response
    .writeHead(status, { 'content-type': 'application/json' })
    .end(JSON.stringify({ error_code, message }));
}
