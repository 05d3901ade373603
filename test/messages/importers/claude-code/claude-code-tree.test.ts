import { describe, expect, it } from 'vitest';
import {
  answer,
  droppedIn,
  HI,
  outline,
  progress,
  prompt,
  record,
  result,
  text,
  use,
} from './claude-code-records.js';

describe('the active path of a Claude Code session', () => {
  it('drops the branch that was rewound and counts it', async () => {
    const records = [
      HI,
      answer('a1', 'u', 'm1', text('old')),
      prompt('u2', 'a1', 'old prompt'),
      answer('a2', 'u', 'm2', text('new')),
    ];
    expect(await outline(...records)).toEqual(['user: hi', 'assistant: new']);
    expect(await droppedIn(...records)).toEqual({ 'record of another branch (rewound or retried)': 2 });
  });

  it('goes on through progress and system records', async () => {
    const records = [
      HI,
      progress('p', 'u'),
      record('system', 's1', 'p', { subtype: 'stop_hook_summary' }),
      answer('a', 's1', 'm', text('yes')),
    ];
    expect(await outline(...records)).toEqual(['user: hi', 'assistant: yes']);
    expect(await droppedIn(...records)).toEqual({ 'progress event': 1, 'system event': 1 });
  });

  it('keeps the results of parallel calls that fork the chain', async () => {
    const records = [
      HI,
      answer('a1', 'u', 'm', use('c1')),
      answer('a2', 'a1', 'm', use('c2')),
      result('r1', 'a1', 'c1'),
      result('r2', 'a2', 'c2'),
      answer('a3', 'r2', 'm2', text('both')),
    ];
    expect(await outline(...records)).toEqual([
      'user: hi',
      'call c1 c2',
      'result c1',
      'result c2',
      'assistant: both',
    ]);
  });

  it('keeps the calls whose lines lie beside the path', async () => {
    const records = [
      HI,
      answer('a1', 'u', 'm', use('c1')),
      answer('a2', 'a1', 'm', use('c2')),
      result('r2', 'a2', 'c2'),
      result('r1', 'a1', 'c1'),
      answer('a3', 'r1', 'm2', text('both')),
    ];
    expect(await outline(...records)).toEqual([
      'user: hi',
      'call c1 c2',
      'result c2',
      'result c1',
      'assistant: both',
    ]);
  });

  it('keeps a result beside the progress record that the chain goes on from', async () => {
    const records = [
      HI,
      answer('a1', 'u', 'm1', use('c1')),
      progress('p', 'a1'),
      result('r1', 'a1', 'c1'),
      answer('a2', 'p', 'm2', text('yes')),
    ];
    expect(await outline(...records)).toEqual(['user: hi', 'call c1', 'result c1', 'assistant: yes']);
  });

  it('leaves the second result of a call to the branch that it is on', async () => {
    const records = [
      HI,
      answer('a1', 'u', 'm1', use('c1')),
      result('r0', 'a1', 'c1', 'first run'),
      result('r1', 'a1', 'c1', 'second run'),
      answer('a2', 'r1', 'm2', text('yes')),
    ];
    expect(await outline(...records)).toEqual(['user: hi', 'call c1', 'result c1', 'assistant: yes']);
  });

  it('does not end at a late result when the conversation went on elsewhere', async () => {
    const records = [
      HI,
      answer('a1', 'u', 'm1', use('c1')),
      answer('a2', 'a1', 'm1', use('c2')),
      result('r1', 'a1', 'c1'),
      prompt('u2', 'r1', 'go on'),
      answer('a3', 'u2', 'm2', text('went on')),
      result('r2', 'a2', 'c2'),
    ];
    expect(await outline(...records)).toEqual([
      'user: hi',
      'call c1 c2',
      'result c1',
      'user: go on',
      'assistant: went on',
      'result c2',
    ]);
  });

  it('goes by the order of the file where times contradict it', async () => {
    const records = [
      prompt('u', null, 'hi', { timestamp: '2026-01-01T00:00:02.000Z' }),
      prompt('u2', 'u', 'there', { timestamp: '2026-01-01T00:00:01.000Z' }),
    ];
    expect(await outline(...records)).toEqual(['user: hi', 'user: there']);
  });

  it('continues with what came before where the parent is missing', async () => {
    const records = [HI, answer('a', 'u', 'm', text('yes')), prompt('u2', 'gone', 'next')];
    expect(await outline(...records)).toEqual(['user: hi', 'assistant: yes', 'user: next']);
  });

  it('continues with what came before at a second root', async () => {
    const records = [HI, answer('a', null, 'm', text('yes')), prompt('u2', null, 'next')];
    expect(await outline(...records)).toEqual(['user: hi', 'assistant: yes', 'user: next']);
  });

  it('drops sub-agents inside the file and counts them', async () => {
    const records = [
      HI,
      answer('a', 'u', 'm', use('c1')),
      prompt('x', null, 'sub task', { isSidechain: true }),
      answer('y', 'x', 'mx', text('sub answer'), { isSidechain: true }),
      result('r', 'a', 'c1'),
    ];
    expect(await outline(...records)).toEqual(['user: hi', 'call c1', 'result c1']);
    expect(await droppedIn(...records)).toEqual({ 'record of a sub-agent (sidechain)': 2 });
  });

  it('reads the file of a sub-agent as a conversation of its own', async () => {
    const side = { isSidechain: true };
    const records = [prompt('x', null, 'task', side), answer('y', 'x', 'm', text('done'), side)];
    expect(await outline(...records)).toEqual(['user: task', 'assistant: done']);
  });

  it('ends where parents form a circle', async () => {
    const records = [prompt('u', 'u2', 'one'), prompt('u2', 'u', 'two')];
    expect((await outline(...records)).sort()).toEqual(['user: one', 'user: two']);
  });

  it('reads a record that was written twice once', async () => {
    const records = [HI, answer('a', 'u', 'm', text('yes'))];
    expect(await outline(...records, ...records)).toEqual(['user: hi', 'assistant: yes']);
    expect(await droppedIn(...records, ...records)).toEqual({ 'record written twice': 2 });
  });
});

describe('prompts queued during a turn', () => {
  const enqueue = { type: 'queue-operation', operation: 'enqueue', sessionId: 's', content: 'and tests?' };
  const remove = { type: 'queue-operation', operation: 'remove', sessionId: 's' };
  const before = [HI, answer('a1', 'u', 'm1', use('c1')), enqueue, remove, result('r1', 'a1', 'c1')];

  it('come out after the results when only the queue has them', async () => {
    expect(await outline(...before, answer('a2', 'r1', 'm2', text('yes')))).toEqual([
      'user: hi',
      'call c1',
      'result c1',
      'user: and tests?',
      'assistant: yes',
    ]);
  });

  it('come out once when an attachment has them', async () => {
    const attachment = { type: 'queued_command', prompt: 'and tests?' };
    const records = [...before, record('attachment', 'q', 'r1', { attachment })];
    expect(await outline(...records, answer('a2', 'q', 'm2', text('yes')))).toEqual([
      'user: hi',
      'call c1',
      'result c1',
      'user: and tests?',
      'assistant: yes',
    ]);
  });

  it('do not come out from the queue when they became prompts of their own', async () => {
    const dequeue = { ...remove, operation: 'dequeue' };
    expect(await outline(HI, enqueue, dequeue, prompt('u2', 'u', 'and tests?'))).toEqual([
      'user: hi',
      'user: and tests?',
    ]);
  });

  it('do not come out when they are commands of the tool', async () => {
    expect(await outline(HI, { ...enqueue, content: '/model' }, remove)).toEqual(['user: hi']);
  });
});
