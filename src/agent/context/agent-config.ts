import type { Clock } from '../../core/clock.js';
import type { ToolDefinition } from '../../core/tool-definition.js';
import type { MemoryOptions } from '../../memory/open-memory.js';
import type { StateDocuments } from '../../state/durable/tools/mounted-state.js';
import type { StorageBackend } from '../../storage/ports.js';
import type { LanguageModel } from '../model/language-model.js';
import type { RetryOptions } from '../model/retrying-stream.js';
import type { Approve } from '../tools/approval.js';
import type { CallLogging } from '../tools/call-recorder.js';

/** Durable documents of an agent. Their owner opens and closes them. */
export interface AgentStateOptions {
  /** Open `StateManager`s by the name that the model uses. It reaches no others. */
  readonly documents: StateDocuments;
  /** The author of the agent's changes. Default: the agent's `name`, else its id. */
  readonly by?: string;
  /** Largest value that `read_state` gives at once, and largest text of a document in the prompt, in tokens. Default 4,000. */
  readonly tokens?: number;
  /**
   * Puts the text of all documents, or of the named ones, at the end of `systemPrompt`, which must then be set. It is read once, at
   * `start()`: a prompt that changed at every turn would cost the provider's cache of the whole conversation. If the document has
   * changed since the last process, the restore report says `promptChanged`. Default false.
   */
  readonly inPrompt?: boolean | readonly string[];
}

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
  /** Adds the tools `read_state` and `update_state` for these documents. */
  readonly state?: AgentStateOptions;
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
  /**
   * Decides on calls of tools with `needsApproval`. `inbox`: such a call waits until somebody decides with `decideApproval`,
   * `rekindle approvals` or HTTP. With a function, either of the two may decide. Left out: such calls are refused.
   */
  readonly approve?: Approve | 'inbox';
  /** Milliseconds after which a call that waits counts as denied, also over restarts. Default: never. */
  readonly approvalExpiresMs?: number;
  /** Maximum of model responses in one turn. Default 50. */
  readonly stepsMax?: number;
  /** Maximum of tools that run at the same time. Default 8. */
  readonly parallelToolsMax?: number;
  readonly retry?: RetryOptions;
  readonly clock?: Clock;
}
