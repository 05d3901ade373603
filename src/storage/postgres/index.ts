/**
 * Agents in PostgreSQL, which can move between machines. Needs the package `pg`.
 *
 * @module rekindle/storage/postgres
 */
export { PostgresStorage, type PostgresStorageOptions } from './postgres-storage.js';
