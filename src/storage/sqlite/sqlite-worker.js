/** In a clone only: the program runs from TypeScript, which a thread cannot load by itself. A build has the compiled thread here. */
import { register } from 'tsx/esm/api';

register();
await import('./sqlite-worker.ts');
