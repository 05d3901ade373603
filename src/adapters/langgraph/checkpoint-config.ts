/** Reads the configuration that LangGraph passes with each call. */
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint';
import { RekindleError } from '../../core/errors.js';

export type RunnableConfig = Parameters<BaseCheckpointSaver['getTuple']>[0];

type ConfigField = 'thread_id' | 'checkpoint_ns' | 'checkpoint_id' | 'thread_ts';

/** @throws INVALID_ARGUMENT unless it is a string */
export function threadIdOf(config: RunnableConfig): string | undefined {
  return textOf(config, 'thread_id');
}

/** @throws INVALID_ARGUMENT */
export function requiredThreadId(config: RunnableConfig): string {
  const threadId = threadIdOf(config);
  if (threadId !== undefined) return threadId;
  throw refused(
    'thread_id',
    'it is missing: pass `{ configurable: { thread_id } }`, which tells which conversation this is',
  );
}

/** The root namespace is the empty string. @throws INVALID_ARGUMENT */
export function namespaceOf(config: RunnableConfig): string {
  return textOf(config, 'checkpoint_ns') ?? '';
}

/** In a list, no namespace means all of them. @throws INVALID_ARGUMENT */
export function listedNamespace(config: RunnableConfig): string | undefined {
  return textOf(config, 'checkpoint_ns');
}

/** Old configurations call it `thread_ts`. @throws INVALID_ARGUMENT */
export function checkpointIdOf(config: RunnableConfig): string | undefined {
  return textOf(config, 'checkpoint_id') || textOf(config, 'thread_ts') || undefined;
}

/** @throws INVALID_ARGUMENT */
export function requiredCheckpointId(config: RunnableConfig): string {
  const id = checkpointIdOf(config);
  if (id !== undefined) return id;
  throw refused('checkpoint_id', 'it is missing');
}

export function configOf(threadId: string, ns: string, id: string): RunnableConfig {
  return { configurable: { thread_id: threadId, checkpoint_ns: ns, checkpoint_id: id } };
}

function textOf(config: RunnableConfig, field: ConfigField): string | undefined {
  const value: unknown = config.configurable?.[field];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  throw refused(field, `it must be a string, not ${typeof value}`);
}

function refused(field: ConfigField, problem: string): RekindleError {
  return new RekindleError('INVALID_ARGUMENT', `configurable.${field} is refused: ${problem}.`, {
    details: { argument: `configurable.${field}`, problem },
  });
}
