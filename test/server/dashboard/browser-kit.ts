/** A real browser for tests of the page; and a store with sessions, a state and an agent for it to show. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { CheckpointService } from '../../../src/checkpoints/checkpoint-service.js';
import { createAgent, FileStorage, ScriptedModel, type ToolDefinition } from '../../../src/index.js';
import { type RunningServer, startServer } from '../../../src/server/rekindle-server.js';
import type { ServerOptions } from '../../../src/server/server-options.js';
import { SharedSessions } from '../../../src/state/shared/shared-sessions.js';
import type { SharedState } from '../../../src/state/shared/shared-state.js';

export const TOKEN = 'a-token-for-tests-only';
const CHROMIUM = [
  process.env['REKINDLE_CHROMIUM'] ?? '',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((file) => file !== '' && existsSync(file));

/** Where there is none, the tests of the page are skipped, and say so. */
export const hasBrowser = CHROMIUM !== undefined;
if (!hasBrowser)
  console.log('No Chromium here: the tests of the page are skipped. Install it, or set REKINDLE_CHROMIUM.');

export function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM ?? '',
    args: [
      ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
      ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
    ],
  });
}

export class Stage {
  readonly dir: string;
  readonly backend: FileStorage;
  readonly shared: SharedSessions;
  readonly checkpoints: CheckpointService;
  readonly server: RunningServer;

  private constructor(dir: string, backend: FileStorage, shared: SharedSessions, server: RunningServer) {
    this.dir = dir;
    this.backend = backend;
    this.shared = shared;
    this.checkpoints = new CheckpointService({ backend });
    this.server = server;
  }

  /** `shared` and `checkpoints` write beside the server, as another process would. */
  static async open(options: Pick<ServerOptions, 'limits'> = {}): Promise<Stage> {
    const dir = await mkdtemp(path.join(tmpdir(), 'rekindle-page-'));
    const backend = new FileStorage(dir);
    const server = await startServer({ backend: new FileStorage(dir), token: TOKEN, port: 0, ...options });
    return new Stage(dir, backend, new SharedSessions(backend, options), server);
  }

  async close(): Promise<void> {
    await this.server.close();
    await this.checkpoints.close();
    await this.shared.close();
    await this.backend.close();
    await rm(this.dir, { recursive: true });
  }

  /** A page that has signed in, and tells what it should never meet. `script` runs before those of the page. */
  async page(
    browser: Browser,
    fragment: string,
    script = '',
  ): Promise<{ readonly page: Page; readonly trouble: string[] }> {
    const page = await browser.newPage({ viewport: { width: 1_100, height: 800 } });
    page.setDefaultTimeout(10_000); // less than a test has: then it is told what did not come
    const trouble: string[] = [];
    page.on('pageerror', (error) => trouble.push(`error: ${error.message}`));
    page.on('dialog', (dialog) => {
      trouble.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('console', (message) => {
      if (message.type() === 'error') trouble.push(`console: ${message.text()}`);
    });
    await page.addInitScript(
      "addEventListener('securitypolicyviolation', (event) => console.error('policy: ' + event.violatedDirective))",
    );
    if (script !== '') await page.addInitScript(script);
    await page.goto(`${this.server.url}/#token=${TOKEN}`);
    await page.getByText('connected', { exact: true }).waitFor();
    await page.evaluate(`location.hash = ${JSON.stringify(fragment)}`);
    return { page, trouble };
  }

  async release(): Promise<SharedState> {
    const root = await this.shared.tree.create({ id: 'release-42', agent: 'lead', status: 'running' });
    for (const agent of ['builder', 'tester', 'writer'])
      await this.shared.tree.create({ id: `release-42-${agent}`, parent: root.id, agent, status: 'running' });
    const state = await this.shared.stateOf(root.id);
    await state.set('plan', { owner: 'lead', steps: ['build', 'test', 'write'] }, { by: root.id });
    await state.increment('done', 1, { by: 'release-42-builder' });
    await state.append('findings', [{ by: 'builder', note: 'the lock file was stale' }], {
      by: 'release-42-builder',
    });
    await state.merge('plan', { owner: 'tester', due: 'Friday' }, { by: 'release-42-tester' });
    return state;
  }

  /** A workflow of a report, saved four times while it goes on. The ids, oldest first. */
  async workflow(sessionId: string): Promise<string[]> {
    const findings = Array.from(
      { length: 30 },
      (_, n) => `Region ${n + 1}: ${(n * 7919) % 1000} orders late.`,
    );
    const start = {
      goal: 'Report why orders are late',
      plan: ['collect', 'compare', 'write'],
      findings: findings.slice(0, 10),
      scratch: 'first look',
    };
    const compared = { ...start, plan: ['compare', 'write'], findings, status: 'comparing' };
    const { scratch: _, ...written } = {
      ...compared,
      plan: ['write'],
      status: 'writing',
      draft: 'Late since May.',
    };
    const steps = [
      { context: start, name: 'collected', tags: ['report'] },
      { context: { ...start, findings: findings.slice(0, 20) }, name: 'more collected', tags: [] },
      { context: compared, name: 'compared', tags: ['report', 'reviewed'], critical: true },
      { context: written, name: 'draft', tags: ['report'] },
    ];
    const ids: string[] = [];
    for (const { context, name, tags, critical = false } of steps) {
      const params = { sessionId, agentId: 'writer', context, critical, metadata: { name, tags } };
      ids.push((await this.checkpoints.save(params)).checkpointId);
    }
    return ids;
  }

  /** An agent that called a tool with these texts, and answered with them. */
  async agent(agentId: string, text: string, toolResult = text): Promise<void> {
    const look: ToolDefinition = {
      name: 'look_up',
      description: 'Looks something up.',
      inputSchema: { type: 'object', properties: { what: { type: 'string' } } },
      execute: () => toolResult,
    };
    const model = new ScriptedModel([
      { calls: [{ id: 'call_1', name: 'look_up', arguments: { what: text } }] },
      { text: `Found: ${text}`, reasoning: text },
    ]);
    const agent = createAgent({
      agentId,
      systemPrompt: `Answer about ${text}`,
      model,
      tools: [look],
      storage: this.backend,
    });
    await agent.start();
    await agent.send(`What about ${text}?`);
    await agent.stop();
  }
}
