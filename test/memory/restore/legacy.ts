/** Files as the seed's original project writes them, with content of our own. */
import type { JsonObject, JsonValue } from '../../../src/core/json.js';

const EMPTY = { reasoning_content: null, image_urls: [], audio_urls: [], video_urls: [], tool_payload: null };

export function legacyMessage(role: string, content: string | null, payload: JsonValue = null): JsonObject {
  return { role, content, ...EMPTY, tool_payload: payload };
}

export function legacyCall(id: string): JsonObject {
  return legacyMessage('assistant', null, {
    tool_calls: [{ id, name: `tool_${id}`, arguments: { of: id } }],
  });
}

export function legacyResult(id: string, value: JsonValue = `result of ${id}`): JsonObject {
  return legacyMessage('tool', null, {
    tool_call_id: id,
    tool_name: `tool_${id}`,
    tool_result: value,
    tool_error: null,
  });
}

export function legacySnapshot(messages: readonly JsonObject[], fields: JsonObject = {}): string {
  return JSON.stringify({
    schema_version: 1,
    agent_id: 'agent-a',
    epoch_id: 1,
    last_compaction_ts: null,
    ...fields,
    messages: [...messages],
  });
}

/** Rows of one conversation, numbered as the original numbers them: per turn, with colliding millisecond ids. */
export class LegacyRows {
  readonly rows: JsonObject[] = [];
  #seq = 0;
  #turn = 0;

  user(content: string): this {
    this.#turn += 1;
    this.#seq = 0;
    return this.#add('user', 'LLMUserMessageReadyEvent', {
      content,
      media: { images: [], audio: [], video: [] },
      tags: ['processed'],
    });
  }

  answer(content: string): this {
    return this.#add('assistant', 'LLMCompleteResponseReceivedEvent', { content, tags: ['final'] });
  }

  call(id: string): this {
    const fields = { content: '', tool_name: `tool_${id}`, tool_call_id: id, tool_args: { of: id } };
    return this.#add('tool_call', 'PendingToolInvocationEvent', fields);
  }

  result(id: string, value: JsonValue = `result of ${id}`): this {
    const fields = {
      content: '',
      tool_name: `tool_${id}`,
      tool_call_id: id,
      tool_args: { of: id },
      tool_result: value,
    };
    return this.#add('tool_result', 'ToolResultEvent', fields);
  }

  other(type: string): this {
    return this.#add(type, 'ToolContinuationReadyEvent', { content: 'x' });
  }

  #add(type: string, event: string, fields: JsonObject): this {
    const turnId = `turn_${String(this.#turn).padStart(4, '0')}`;
    this.#seq += 1;
    this.rows.push({
      id: 'rt_1770900509509',
      ts: 1770900509.509,
      turn_id: turnId,
      seq: this.#seq,
      trace_type: type,
      source_event: event,
      ...fields,
    });
    return this;
  }

  toString(): string {
    return this.rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  }
}
