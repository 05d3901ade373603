/** Every importer. The order matters where one format looks like a special case of another: the more particular come first. */
import { aiSdkModelMessagesImporter } from './ai-sdk-model-messages.js';
import { uiMessagesImporter } from './ai-sdk-ui-messages.js';
import { anthropicImporter } from './anthropic.js';
import { claudeCodeImporter } from './claude-code.js';
import { codexImporter } from './codex.js';
import { geminiCliImporter } from './gemini-cli.js';
import { inspectImporter } from './inspect.js';
import { langGraphImporter } from './langgraph.js';
import { lettaImporter } from './letta.js';
import { openAiAgentsImporter } from './openai-agents.js';
import { openAiChatImporter } from './openai-chat.js';
import { openCodeImporter } from './opencode.js';
import { piImporter } from './pi.js';
import { rekindleImporter } from './rekindle.js';
import { sweAgentImporter } from './swe-agent.js';
import type { TranscriptImporter } from './transcript.js';

export const IMPORTERS: readonly TranscriptImporter[] = [
  rekindleImporter,
  claudeCodeImporter,
  codexImporter,
  geminiCliImporter,
  piImporter,
  openCodeImporter,
  openAiAgentsImporter,
  lettaImporter,
  inspectImporter,
  sweAgentImporter,
  langGraphImporter,
  uiMessagesImporter,
  aiSdkModelMessagesImporter,
  anthropicImporter,
  openAiChatImporter,
];
