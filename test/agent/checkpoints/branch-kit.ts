/** An agent `ada` and its checkpoints in one folder, and agents that begin from them. */
import { onTestFinished } from 'vitest';
import type { Agent } from '../../../src/agent/agent.js';
import { type AgentImage, captureAgent } from '../../../src/agent/checkpoints/agent-image.js';
import {
  type CheckpointAgentOptions,
  checkpointAgent,
} from '../../../src/agent/checkpoints/checkpoint-agent.js';
import type { FromCheckpointInit } from '../../../src/agent/checkpoints/from-checkpoint.js';
import type { AgentConfig } from '../../../src/agent/context/agent-config.js';
import { type RestoreAgentOptions, restoreAgent } from '../../../src/agent/factory/agent-factory.js';
import { ScriptedModel, type ScriptStep } from '../../../src/agent/model/scripted-model.js';
import type { SaveResult } from '../../../src/checkpoints/checkpoint-params.js';
import { CheckpointService } from '../../../src/checkpoints/checkpoint-service.js';
import { canonicalJson } from '../../../src/core/canonical-json.js';
import type { JsonObject, JsonValue } from '../../../src/core/json.js';
import type { Message } from '../../../src/messages/message.js';
import { messageToJson } from '../../../src/messages/message-serializer.js';
import { FileStorage } from '../../../src/storage/file/file-storage.js';
import type { StorageBackend } from '../../../src/storage/ports.js';
import { AGENT_ID, type AgentFixture, agentFixture, filesBelow } from '../agent-fixture.js';

export class BranchPlace {
  readonly fixture: AgentFixture;
  readonly storage: FileStorage;
  readonly service: CheckpointService;

  private constructor(fixture: AgentFixture) {
    this.fixture = fixture;
    // Nothing is synced: what is tested here is not power loss.
    this.storage = new FileStorage(fixture.dir, { durability: 'relaxed' });
    this.service = new CheckpointService({ backend: this.storage });
  }

  static async make(): Promise<BranchPlace> {
    const place = new BranchPlace(await agentFixture());
    onTestFinished(async () => {
      await place.service.close();
      await place.storage.close();
    });
    return place;
  }

  get dir(): string {
    return this.fixture.dir;
  }

  /** The agent `ada`, started. */
  started(script: readonly ScriptStep[], config: Partial<AgentConfig> = {}): Promise<Agent> {
    return this.fixture.started(script, { storage: this.storage, ...config });
  }

  save(options: CheckpointAgentOptions = {}): Promise<SaveResult> {
    return checkpointAgent(this.service, this.storage, AGENT_ID, options);
  }

  /** An agent from a checkpoint, not started. Stopped after the test. */
  branch(
    agentId: string,
    fromCheckpoint: FromCheckpointInit,
    script: readonly ScriptStep[] = [],
    config: Partial<AgentConfig> = {},
  ): Agent {
    return this.restored(agentId, script, config, { fromCheckpoint });
  }

  restored(
    agentId: string,
    script: readonly ScriptStep[] = [],
    config: Partial<AgentConfig> = {},
    options: RestoreAgentOptions = {},
  ): Agent {
    const whole = { model: new ScriptedModel(script), storage: this.storage, ...config };
    const agent = restoreAgent(agentId, whole, null, options);
    onTestFinished(() => agent.stop({ graceMs: 0 }).catch(() => {}));
    return agent;
  }

  /** What an agent is now, without its name. */
  async imageOf(agentId: string, backend: StorageBackend = this.storage): Promise<JsonObject> {
    return withoutName(await captureAgent(backend, agentId));
  }

  /** Every file of an agent with its bytes, but its lease. */
  async filesOf(agentId: string): Promise<Map<string, string>> {
    const files = await filesBelow(this.dir);
    return new Map([...files].filter(([name]) => name.startsWith(`agents/${agentId}/`)));
  }

  /** All files but leases and those of the checkpoints. */
  async files(): Promise<Map<string, string>> {
    const files = await filesBelow(this.dir);
    return new Map([...files].filter(([name]) => !name.startsWith('checkpoints/')));
  }
}

export function withoutName({ agent_id: _, ...image }: AgentImage): JsonObject {
  return image as unknown as JsonObject;
}

/** The context as a model gets it, byte for byte. */
export function bytesOf({ messages }: { readonly messages: readonly Message[] }): string {
  return canonicalJson(messages.map(messageToJson) as JsonValue);
}

/** Answers that are as many, and each another one. */
export function answers(count: number): ScriptStep[] {
  return Array.from({ length: count }, (_, index) => ({ text: `Answer ${index + 1}.` }));
}
