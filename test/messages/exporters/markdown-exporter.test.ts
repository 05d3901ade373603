import { describe, expect, it } from 'vitest';
import { markdownExporter } from '../../../src/messages/exporters/markdown-exporter.js';
import { quoted } from '../../../src/messages/exporters/markdown-fences.js';
import type { Message } from '../../../src/messages/message.js';

function write(...messages: readonly Message[]): string {
  return [...markdownExporter.write(messages, { agentId: 'coder' })].join('');
}

const call: Message = {
  role: 'assistant',
  content: 'Let me look.',
  reasoning: [{ text: 'The file first.' }],
  toolPayload: { toolCalls: [{ id: 'c1', name: 'read', arguments: { path: 'a.md' } }] },
};

function resultOf(toolResult: string): Message {
  return {
    role: 'tool',
    content: null,
    toolPayload: { toolCallId: 'c1', toolName: 'read', toolResult, toolError: null },
  };
}

describe('the export to Markdown', () => {
  it('gives each user message a turn of its own', () => {
    const text = write(
      { role: 'user', content: 'One' },
      { role: 'assistant', content: 'A' },
      { role: 'user', content: 'Two' },
    );
    expect(text.match(/^## Turn \d$/gm)).toStrictEqual(['## Turn 1', '## Turn 2']);
  });

  it('writes what was said as quotations', () => {
    expect(write({ role: 'user', content: 'One\n\n# Two' })).toContain('### User\n\n> One\n>\n> # Two\n');
  });

  it('writes a call with its arguments as JSON', () => {
    expect(write(call)).toContain('Call of `read`:\n\n```json\n{\n  "path": "a.md"\n}\n```\n');
  });

  it('puts reasoning into a block that is closed', () => {
    expect(write(call)).toContain(
      '<details>\n<summary>Reasoning</summary>\n\n```\nThe file first.\n```\n\n</details>\n',
    );
  });

  it('fences a result with more backticks than it has itself', () => {
    const text = write(resultOf('````\n# out\n```'));
    expect(text).toContain('\n`````\n````\n# out\n```\n`````\n');
  });

  it('names the tool of a failed call in the heading', () => {
    const failed: Message = {
      role: 'tool',
      content: null,
      toolPayload: { toolCallId: 'c1', toolName: 'a`b\n# c', toolResult: null, toolError: 'No.' },
    };
    expect(write(failed)).toContain('### Error of ``a`b # c``\n\n```\nNo.\n```\n');
  });

  it('links to an image by its URL and does not show it', () => {
    const media = { kind: 'image' as const, ref: 'https://example.org/a>b.png', name: 'plan' };
    const text = write({ role: 'user', content: null, parts: [{ type: 'media', media }] });
    expect(text).toContain('[`[image: plan]`](<https://example.org/a%3Eb.png>)');
    expect(text).not.toContain('![');
  });

  it('says that there is an image where only its bytes are known', () => {
    const media = { kind: 'image' as const, ref: 'data:image/png;base64,AAAA' };
    const text = write({ role: 'user', content: null, parts: [{ type: 'media', media }] });
    expect(text).toContain('`[image]`');
    expect(text).not.toContain('AAAA');
  });

  it('marks a summary as one and counts no turn for it', () => {
    const text = write({ role: 'user', content: 'Earlier: much.', kind: 'memory' });
    expect(text).toContain('### Summary of earlier messages');
    expect(text).not.toContain('## Turn');
  });

  it('says that an answer was cut off', () => {
    expect(write({ role: 'assistant', content: 'Hal', status: 'aborted' })).toContain('cut off (aborted)');
  });
});

describe('a quotation', () => {
  it('writes tags out, so that an open comment hides nothing', () => {
    expect(quoted('a <!-- b <details> 1 < 2')).toBe('> a &lt;!-- b &lt;details> 1 < 2\n');
  });

  it('leaves code blocks as they are', () => {
    expect(quoted('```html\n<b>\n```\n<b>')).toBe('> ```html\n> <b>\n> ```\n> &lt;b>\n');
  });

  it('trusts no fence after one that readers could take differently', () => {
    for (const odd of [' ```', '- ```', '```a`b', '> ~~~']) {
      expect(quoted(`${odd}\n\`\`\`\n<script>`)).toContain('&lt;script>');
    }
  });

  it('trusts no fence after an indented end of one', () => {
    expect(quoted('```\n\t```\n```\n<script>')).toContain('&lt;script>');
    expect(quoted('```\n     ```\n<script>\n```\n<script>')).not.toContain('<script>');
  });

  it('takes a carriage return for the end of a line', () => {
    expect(quoted('a\rb\r\nc')).toBe('> a\n> b\n> c\n');
  });
});
