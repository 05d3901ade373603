/** A script next to the running one, to start as a separate process. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * With the extension of the caller's file: `.ts` in a clone, `.js` in the package. @param caller its
 * `import.meta.url`
 */
export function siblingScript(caller: string, name: string): string {
  const file = fileURLToPath(caller);
  return path.join(path.dirname(file), `${name}${path.extname(file)}`);
}
