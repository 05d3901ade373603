/**
 * Who a fact comes from, and how far it is trusted. Trust never increases: a fact made from several sources has the
 * trust of the least trusted one.
 */
import type { Message } from '../../messages/message.js';
import { toolResultOf } from '../../messages/message.js';

/** From most to least trusted. */
export const FACT_SOURCES = ['user', 'agent', 'import', 'tool'] as const;
/** Who a fact comes from. Determines how far it is trusted. */
export type FactSource = (typeof FACT_SOURCES)[number];

/** For rows of older releases, which recorded no origin. */
export const UNKNOWN_ORIGIN = 'unknown';
const TOOL = 'tool:';
/** Maximum number of distinct origins of one item; further tools are joined into one. */
const ORIGINS_MAX = 32;

export function isFactSource(value: unknown): value is FactSource {
  return FACT_SOURCES.includes(value as FactSource);
}

/** True if the first is trusted less than the second. */
export function isTrustedLess(source: FactSource, than: FactSource): boolean {
  return FACT_SOURCES.indexOf(source) > FACT_SOURCES.indexOf(than);
}

export function toolOrigin(toolName: string): string {
  return `${TOOL}${toolName}`;
}

/** The name of the tool; null for an origin that is not a tool. */
export function toolOf(origin: string): string | null {
  return origin.startsWith(TOOL) ? origin.slice(TOOL.length) : null;
}

/** The least trusted source among the origins. Without any origin, it is the agent. */
export function sourceOf(origins: readonly string[]): FactSource {
  let source: FactSource = 'user';
  for (const origin of origins) {
    const own = toolOf(origin) !== null ? 'tool' : isFactSource(origin) ? origin : 'agent';
    if (isTrustedLess(own, source)) source = own;
  }
  return origins.length === 0 ? 'agent' : source;
}

/** `tool` matches every tool, `tool:NAME` one tool; `user`, `agent`, `import` and `unknown` match themselves. */
export function comesFrom(origins: readonly string[], source: string): boolean {
  return origins.some((origin) => origin === source || (source === 'tool' && toolOf(origin) !== null));
}

/** The origins of the messages, each once: `user`, `agent`, `import`, `tool:NAME`. */
export function originsOf(messages: readonly Message[]): string[] {
  const imported = importedTurns(messages);
  const origins = new Set<string>();
  for (const message of messages) {
    if (message.role === 'system' || message.kind) continue;
    const tool = toolResultOf(message)?.toolName;
    if (isImported(message, imported)) origins.add('import');
    if (tool !== undefined) origins.add(toolOrigin(tool));
    else if (!isImported(message, imported)) origins.add(message.role === 'user' ? 'user' : 'agent');
  }
  return capped([...origins]);
}

function importedTurns(messages: readonly Message[]): ReadonlySet<string> {
  return new Set(messages.flatMap(({ imported, turnId }) => (imported && turnId ? [turnId] : [])));
}

function isImported({ imported, turnId }: Message, turns: ReadonlySet<string>): boolean {
  return imported === true || (turnId !== undefined && turns.has(turnId));
}

function capped(origins: string[]): string[] {
  if (origins.length <= ORIGINS_MAX) return origins;
  return [...origins.filter((origin) => toolOf(origin) === null), 'tool'];
}
