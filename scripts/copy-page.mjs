/** Puts the files of the page, which are served as they are, beside the compiled server. Argument: the folder of the build. */
import { cpSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const PAGE = 'server/dashboard/page';
const SERVED = /\.(?:js|css|html|svg)$/;
const root = fileURLToPath(new URL('..', import.meta.url));
const from = path.join(root, 'src', PAGE);

cpSync(from, path.resolve(process.argv[2] ?? path.join(root, 'dist'), PAGE), {
  recursive: true,
  filter: (source) => source === from || SERVED.test(source),
});
