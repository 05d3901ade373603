import type { Clock } from '../../core/clock.js';
import type { ToolDefinition } from '../../core/tool-definition.js';
import type { MemoryOptions } from '../../memory/open-memory.js';
import type { StorageBackend } from '../../storage/ports.js';
import type { LanguageModel } from '../model/language-model.js';
import type { RetryOptions } from '../model/retrying-stream.js';
import type { CallLogging } from '../tools/call-recorder.js';
import type { Approve } from '../tools/tool-runner.js';

/** The configuration of an agent. */
export interface AgentConfig {
  /** Default: `<name>_<time>_<random>`. */
  readonly agentId?: string;
  /** Default `agent`. */
  readonly name?: string;
  /** A function is called at each start. */
  readonly systemPrompt?: string | (() => string | Promise<string>);
  readonly model: LanguageModel;
  readonly tools?: readonly ToolDefinition[];
  /**
   * Default: the file backend in `memoryDir`, else in `REKINDLE_MEMORY_DIR`, else in `memory` below the
   * current folder.
   */
  readonly storage?: StorageBackend;
  /** Base folder of the file backend; used when `storage` is not set. */
  readonly memoryDir?: string;
  readonly memory?: MemoryOptions;
  /** How long to wait while the agent is open elsewhere, in ms. Default 0: fail with LEASE_HELD at once. */
  readonly waitMs?: number;
  /** Records every tool call in this log, at the latest at the end of its step. */
  readonly toolCallLog?: CallLogging;
  /** Decides on calls of tools with `needsApproval`. Without it, such calls are refused. */
  readonly approve?: Approve;
  /** Maximum of model responses in one turn. Default 50. */
  readonly stepsMax?: number;
  /** Maximum of tools that run at the same time. Default 8. */
  readonly parallelToolsMax?: number;
  readonly retry?: RetryOptions;
  readonly clock?: Clock;
}
