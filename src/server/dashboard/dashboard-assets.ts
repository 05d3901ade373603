/** The page: a few static, public files. They load all data with the token. */
import { fileURLToPath } from 'node:url';
import { readLocalFile } from '../../storage/file/local-file.js';

export interface DashboardAsset {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  body(): Promise<Uint8Array<ArrayBuffer>>;
}

/**
 * Headers of every answer: no inline scripts or styles, no external resources, no framing. No other page can
 * read it or keep a handle on its window.
 */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

const SCRIPT = 'text/javascript; charset=utf-8';
const SCRIPTS = [
  'agent-view.js',
  'agents-view.js',
  'api.js',
  'app.js',
  'approvals-view.js',
  'change-list.js',
  'checkpoint-session-view.js',
  'checkpoint-view.js',
  'checkpoints-view.js',
  'diff-view.js',
  'diff.js',
  'document-view.js',
  'documents-view.js',
  'entry-view.js',
  'key-history.js',
  'key-table.js',
  'list-controls.js',
  'live-state.js',
  'live.js',
  'loaded.js',
  'one-at-a-time.js',
  'redraw.js',
  'search-view.js',
  'session-about.js',
  'session-rows.js',
  'sessions-view.js',
  'state-comparison.js',
  'state-view.js',
  'text.js',
  'tool-calls-view.js',
  'workspace-view.js',
  'workspaces-view.js',
] as const;

export const dashboardAssets: readonly DashboardAsset[] = [
  asset('/', 'index.html', 'text/html; charset=utf-8'),
  asset('/page/style.css', 'style.css', 'text/css; charset=utf-8'),
  asset('/page/icon.svg', 'icon.svg', 'image/svg+xml'),
  ...SCRIPTS.map((name) => asset(`/page/${name}`, name, SCRIPT)),
  // Preact and htm in one published file: an import map would be an inline script.
  made('/page/preact.js', SCRIPT, () => import.meta.resolve('htm/preact/standalone')),
];

const PATHS = new Set(dashboardAssets.map(({ path }) => path));

export function isDashboardPath(path: string): boolean {
  return PATHS.has(path);
}

function asset(path: string, file: string, type: string): DashboardAsset {
  return made(path, type, () => new URL(`./page/${file}`, import.meta.url).href);
}

function made(path: string, type: string, urlOf: () => string): DashboardAsset {
  let content: Promise<Uint8Array<ArrayBuffer>> | null = null;
  return {
    path,
    headers: { 'Content-Type': type },
    body: () => (content ??= readLocalFile(fileURLToPath(urlOf())).then((bytes) => new Uint8Array(bytes))),
  };
}
