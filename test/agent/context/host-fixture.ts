/** A host with its own loop: opens the context of one agent in a temporary folder, as processes do one after the other. */
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { generateText, jsonSchema, stepCountIs, type ToolSet, tool } from 'ai';
import { onTestFinished } from 'vitest';
import {
  openWorkingContext,
  type WorkingContextOptions,
} from '../../../src/agent/context/open-working-context.js';
import type { WorkingContext } from '../../../src/agent/context/working-context.js';
import type { JsonObject } from '../../../src/core/json.js';
import { type MockStep, mockModel } from '../../support/mock-ai-sdk.js';
import { rowsOf, storageAfterKill } from '../agent-fixture.js';

export interface HostFixture {
  readonly dir: string;
  open(options?: Partial<WorkingContextOptions>): Promise<WorkingContext>;
  /** As `open`, and the process before is dead: it did not close its context. */
  openAfterCrash(options?: Partial<WorkingContextOptions>): Promise<WorkingContext>;
  rows(journal?: 'raw_traces' | 'pending_calls' | 'answer_parts'): Promise<JsonObject[]>;
}

export async function hostFixture(): Promise<HostFixture> {
  const dir = await fs.mkdtemp(path.join(os.tmpdir(), 'rekindle-host-'));
  const opened: WorkingContext[] = [];
  onTestFinished(async () => {
    for (const context of opened) await context.close().catch(() => {});
    await fs.rm(dir, { recursive: true, force: true });
  });
  const open: HostFixture['open'] = async (options = {}) => {
    const context = await openWorkingContext({
      agentId: 'host',
      dir,
      ...options,
    });
    opened.push(context);
    return context;
  };
  return {
    dir,
    open,
    openAfterCrash: (options) => open({ storage: storageAfterKill(dir), ...options }),
    rows: (journal = 'raw_traces') => rowsOf(path.join(dir, 'agents', 'host'), journal),
  };
}

/** A tool of the SDK's shape under the name `work`. */
export function workTool(execute: (input: JsonObject, options: { toolCallId: string }) => unknown) {
  return {
    work: tool({
      description: 'Does some work.',
      inputSchema: jsonSchema<JsonObject>({ type: 'object' }),
      execute,
    }),
  } satisfies ToolSet;
}

export const double = workTool(({ n }) => ({ twice: Number(n) * 2 }));

export function callsWork(id: string, input: JsonObject, text?: string): MockStep {
  return { calls: [{ id, name: 'work', input }], ...(text === undefined ? {} : { text }) };
}

/** One request of the host, with the loop of `generateText`. */
export function generate(ctx: WorkingContext, steps: readonly MockStep[], tools: ToolSet = double) {
  return generateText({
    model: mockModel(steps),
    messages: ctx.messagesFor('ai-sdk'),
    allowSystemInMessages: true,
    tools: ctx.guardTools(tools),
    stopWhen: stepCountIs(5),
    maxRetries: 0,
  });
}
