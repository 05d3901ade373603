export { BigIntSerializer } from './bigint-serializer.js';
export { RekindleSaver, type RekindleSaverOptions } from './rekindle-saver.js';
export { RekindleStore, type RekindleStoreOptions } from './rekindle-store.js';
