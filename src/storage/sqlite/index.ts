/**
 * Many agents of one machine in one SQLite file.
 *
 * @module rekindle/storage/sqlite
 */
export { SqliteStorage, type SqliteStorageOptions } from './sqlite-storage.js';
