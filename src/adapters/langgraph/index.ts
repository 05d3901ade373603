/**
 * A checkpoint saver and a store for LangGraph, on any Rekindle storage. Needs the package `@langchain/langgraph-checkpoint`.
 *
 * @module rekindle/langgraph
 */
export { BigIntSerializer } from './bigint-serializer.js';
export { RekindleSaver, type RekindleSaverOptions } from './rekindle-saver.js';
export { RekindleStore, type RekindleStoreOptions } from './rekindle-store.js';
