/**
 * A checkpoint saver and a store for LangGraph, on any Rekindle storage, and requests that fit the model. Needs the package `@langchain/langgraph-checkpoint`.
 *
 * @module rekindle/langgraph
 */
export { BigIntSerializer } from './bigint-serializer.js';
export { type FitMessagesHook, type FitMessagesOptions, fitMessages } from './fit-messages.js';
export { RekindleSaver, type RekindleSaverOptions } from './rekindle-saver.js';
export { RekindleStore, type RekindleStoreOptions } from './rekindle-store.js';
