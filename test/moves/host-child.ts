/** A host: a process that owns the agent when it is told to, until it loses it. Argument: `HostSettings`. */
import { openSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Agent } from '../../src/agent/agent.js';
import { openAgent } from '../../src/agent/factory/agent-factory.js';
import { isRekindleError } from '../../src/core/errors.js';
import type { ToolContext, ToolDefinition } from '../../src/core/tool-definition.js';
import type { RestoreReport } from '../../src/memory/restore/restore-report.js';
import { checkHistory } from '../../src/messages/legality/history.js';
import type { Message } from '../../src/messages/message.js';
import { checkRequest, project } from '../../src/messages/projections/project.js';
import { type ProcessIdentity, systemIdentity } from '../../src/storage/process-identity.js';
import { SeededRandom } from '../../src/storage/simulated/seeded-random.js';
import type { Command, HostSettings, Line, Point, Restored } from './child-lines.js';
import { ToldStorage } from './told-storage.js';
import { PlannedModel, planTurn } from './turn-plan.js';

const LINGER_MS = 50;
const TRY_EVERY_MS = 20;
const PAUSE_MS = 5;

const settings = JSON.parse(process.argv[2] ?? '{}') as HostSettings;
const effects = openSync(settings.effectsFile, 'a');
const say = (line: Line) => writeSync(1, `${JSON.stringify(line)}\n`);

/** Only time tells the other host whether this one lives. */
const identity: ProcessIdentity = {
  owner: () => ({ ...systemIdentity.owner(), host: settings.host }),
  state: (owner) => (owner.host === settings.host ? systemIdentity.state(owner) : 'unknown'),
};

let going = () => {};
let linger: { readonly point: Point; left: number } | null = null;

const input = createInterface({ input: process.stdin });
input.on('close', () => process.exit(0)); // its campaign ended
input.on('line', (text) => {
  const command = JSON.parse(text) as Command;
  if (command.do === 'own') void new Owner(command).run();
  else if (command.do === 'go') going();
  else linger = { point: command.point, left: command.nth };
});
say({ type: 'ready' });

class Owner {
  readonly #agentId: string;
  readonly #tag: string;
  readonly #random: SeededRandom;
  readonly #storage: ToldStorage;

  constructor({ agentId, tag, seed }: Extract<Command, { do: 'own' }>) {
    this.#agentId = agentId;
    this.#tag = tag;
    this.#random = new SeededRandom(seed);
    this.#storage = new ToldStorage({
      url: settings.url,
      identity,
      plant: settings.plant ?? null,
      tell: (what) => (what === 'append-fenced' ? say({ type: what, tag }) : this.#meet(what)),
    });
  }

  async run(): Promise<void> {
    const told = new Promise<void>((resolve) => (going = resolve));
    linger = null;
    const agent = await this.#open();
    agent.events.on('turn_started', () => this.#meet('started'));
    agent.events.on('tool_call', () => this.#meet('calls'));
    agent.events.on('tool_result', ({ callId, error }) => {
      if (error === null) say({ type: 'ack', tag: this.#tag, what: 'result', id: callId });
      this.#meet('result');
    });
    say(describe(agent, this.#tag));
    await told;
    const code = await this.#work(agent);
    say({ type: 'fenced', tag: this.#tag, code });
    const start = performance.now();
    await agent.stop({ graceMs: 0 }).catch(() => {}); // fenced: nothing is left to save
    await this.#storage.close().catch(() => {});
    say({ type: 'closed', tag: this.#tag, ms: Math.round(performance.now() - start) });
  }

  async #open(): Promise<Agent> {
    const config = {
      storage: this.#storage,
      systemPrompt: 'You move from host to host.',
      model: new PlannedModel(this.#tag, () => this.#meet('model')),
      tools: [this.#tool('work', false), this.#tool('note', true)],
      memory: { compaction: null, leaseTtlMs: settings.leaseTtlMs },
    };
    say({ type: 'trying', tag: this.#tag });
    for (;;) {
      try {
        return await openAgent(this.#agentId, config);
      } catch (thrown) {
        if (!isRekindleError(thrown, 'LEASE_HELD')) throw thrown;
        say({ type: 'refused', tag: this.#tag });
        await sleep(TRY_EVERY_MS);
      }
    }
  }

  /** The code of the error that ended it. */
  async #work(agent: Agent): Promise<string> {
    for (let turns = 1; ; ) {
      try {
        const idle = agent.memory.frontier.kind === 'idle';
        const plan = JSON.stringify(planTurn(`${this.#tag}-${turns}`, this.#random));
        if (idle) turns += 1; // an id that was tried is not tried again
        const { text } = await (idle ? agent.send(plan) : agent.resume());
        say({ type: 'ack', tag: this.#tag, what: 'turn', id: text });
        this.#meet('turn');
      } catch (thrown) {
        const code = isRekindleError(thrown) ? thrown.code : String(thrown);
        if (code === 'LEASE_LOST') return code;
        say({ type: 'failed', tag: this.#tag, code });
      }
      await sleep(PAUSE_MS);
    }
  }

  #tool(name: string, idempotent: boolean): ToolDefinition {
    const execute = async (_: unknown, { idempotencyKey }: ToolContext) => {
      this.#meet('run');
      await sleep(this.#random.below(6));
      writeSync(effects, `${idempotencyKey} ${this.#tag} ${name}\n`);
      this.#meet('effect');
      await sleep(this.#random.below(6));
      return { by: this.#tag };
    };
    return { name, description: 'Has an effect.', inputSchema: { type: 'object' }, idempotent, execute };
  }

  #meet(point: Point): void {
    say({ type: 'point', tag: this.#tag, point });
    if (linger?.point !== point) return;
    linger.left -= 1;
    if (linger.left > 0) return;
    linger = null;
    say({ type: 'lingers', tag: this.#tag, point });
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LINGER_MS);
  }
}

function describe(agent: Agent, tag: string): Restored {
  const report = agent.restoreReport;
  const interrupted = agent.memory.frontier.kind !== 'idle';
  const unknown = (report?.interruptedCalls ?? []).filter(({ verdict }) => verdict === 'outcome_unknown');
  return {
    type: 'restored',
    tag,
    source: report && sourceOf(report),
    problems: problemsOf(agent.messages, interrupted),
    unknown: unknown.map(({ turnId, callId }) => `${agent.agentId}/${turnId}/${callId}`),
    interrupted,
  };
}

function sourceOf({ source, cacheRefused }: RestoreReport): string {
  return cacheRefused ? `${source}, cache ${cacheRefused.reason}` : source;
}

/** The next request: of the turn that was interrupted, or of a new one. */
function problemsOf(messages: Message[], interrupted: boolean): string[] {
  const next: Message[] = interrupted ? messages : [...messages, { role: 'user', content: 'What now?' }];
  const illegal = checkHistory(messages).map(({ rule, reason }) => `${rule}: ${reason}`);
  const refused = (['anthropic', 'openai-chat'] as const).flatMap((target) =>
    checkRequest(target, project(target, next).request).map(({ rule, reason }) => `${rule}: ${reason}`),
  );
  return [...illegal, ...refused];
}
