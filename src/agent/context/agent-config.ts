/** What an agent is made from. */
import type { Clock } from '../../core/clock.js';
import type { ToolDefinition } from '../../core/tool-definition.js';
import type { MemoryOptions } from '../../memory/open-memory.js';
import type { StorageBackend } from '../../storage/ports.js';
import type { LanguageModel } from '../model/language-model.js';
import type { RetryOptions } from '../model/retrying-stream.js';
import type { CallLogging } from '../tools/call-recorder.js';
import type { Approve } from '../tools/tool-runner.js';

export interface AgentConfig {
  /** Default: `<name>_<time>_<random>`. */
  readonly agentId?: string;
  /** Default `agent`. */
  readonly name?: string;
  readonly systemPrompt?: string | (() => string | Promise<string>);
  readonly model: LanguageModel;
  readonly tools?: readonly ToolDefinition[];
  /** Default: the file backend in `memoryDir`, else `REKINDLE_MEMORY_DIR`, else `memory` below the current folder. */
  readonly storage?: StorageBackend;
  readonly memoryDir?: string;
  readonly memory?: MemoryOptions;
  /** How long to wait, in line, while the agent is open elsewhere, in milliseconds. Default 0: LEASE_HELD at once. */
  readonly waitMs?: number;
  /** Every call of a tool goes into this log, by the end of its step. */
  readonly toolCallLog?: CallLogging;
  /** Decides about calls of tools with `needsApproval`. */
  readonly approve?: Approve;
  /** Model responses in one turn. Default 50. */
  readonly stepsMax?: number;
  /** Tools that run at once. Default 8. */
  readonly parallelToolsMax?: number;
  readonly retry?: RetryOptions;
  readonly clock?: Clock;
}
