/** Records of small Claude Code sessions, and what matters of what is read from them. */
import { claudeCodeImporter as importer } from '../../../../src/messages/importers/claude-code/claude-code.js';
import { textOf, toolCallsOf, toolResultOf } from '../../../../src/messages/message.js';
import { lines, readAll } from '../read-all.js';

export type Fields = Record<string, unknown>;
export type Parent = string | null;

export const MODEL = 'claude-test-1';
export const ORIGIN = { provider: 'anthropic', model: MODEL };

export function record(type: string, uuid: string, parentUuid: Parent, rest: Fields): Fields {
  return { type, uuid, parentUuid, isSidechain: false, sessionId: 's', ...rest };
}

export function prompt(uuid: string, parent: Parent, content: unknown, rest: Fields = {}): Fields {
  return record('user', uuid, parent, { message: { role: 'user', content }, ...rest });
}

export function answer(uuid: string, parent: Parent, id: string, block: Fields, rest: Fields = {}): Fields {
  const message = { id, role: 'assistant', model: MODEL, content: [block] };
  return record('assistant', uuid, parent, { message, ...rest });
}

export function result(uuid: string, parent: Parent, id: string, content: unknown = 'done'): Fields {
  return prompt(uuid, parent, [{ type: 'tool_result', tool_use_id: id, content }]);
}

export function progress(uuid: string, parent: Parent): Fields {
  return record('progress', uuid, parent, { data: { type: 'hook_progress' } });
}

export function text(said: string): Fields {
  return { type: 'text', text: said };
}

export function use(id: string, name = 'Bash'): Fields {
  return { type: 'tool_use', id, name, input: { n: id } };
}

export function call(id: string): Fields {
  return { id, name: 'Bash', arguments: { n: id } };
}

/** `user: text`, `call a b`, `result a`: what matters in most tests. */
export async function outline(...records: Fields[]): Promise<string[]> {
  const { messages } = await readAll(importer, lines(...records));
  return messages.map((message) => {
    const answered = toolResultOf(message);
    const calls = toolCallsOf(message).map(({ id }) => id);
    if (answered) return `result ${answered.toolCallId}`;
    return calls.length > 0 ? `call ${calls.join(' ')}` : `${message.role}: ${textOf(message)}`;
  });
}

export async function droppedIn(...records: Fields[]): Promise<Record<string, number>> {
  const { report } = await readAll(importer, lines(...records));
  return Object.fromEntries(report.dropped.map(({ what, count }) => [what, count]));
}

export const HI = prompt('u', null, 'hi');
