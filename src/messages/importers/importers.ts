/** Every importer. The order matters if one format looks like a special case of another: the more specific one comes first. */
import { adkImporter } from './adk/adk.js';
import { aiSdkModelMessagesImporter } from './ai-sdk/ai-sdk-model-messages.js';
import { uiMessagesImporter } from './ai-sdk/ai-sdk-ui-messages.js';
import { ampImporter } from './amp/amp.js';
import { anthropicImporter } from './anthropic/anthropic.js';
import { chatGptImporter } from './chat-exports/chatgpt.js';
import { claudeAiImporter } from './chat-exports/claude-ai.js';
import { claudeCodeImporter } from './claude-code/claude-code.js';
import { codexImporter } from './codex/codex.js';
import { continueImporter } from './continue/continue.js';
import { copilotChatImporter } from './copilot-chat/copilot-chat.js';
import { copilotCliImporter } from './copilot-cli/copilot-cli.js';
import { cursorImporter } from './cursor/cursor.js';
import { atifImporter } from './datasets/atif.js';
import { shareGptImporter } from './datasets/sharegpt.js';
import { tauBenchImporter } from './datasets/tau-bench.js';
import { droidImporter } from './droid/droid.js';
import { geminiImporter, responsesImporter } from './entries/entry-list-importer.js';
import { geminiCliImporter } from './gemini-cli/gemini-cli.js';
import { gooseImporter } from './goose/goose.js';
import { inspectImporter } from './inspect/inspect.js';
import { kimiImporter } from './kimi/kimi.js';
import { langGraphImporter } from './langgraph/langgraph.js';
import { lettaImporter } from './letta/letta.js';
import { aiderImporter } from './markdown/aider.js';
import { specStoryImporter } from './markdown/specstory.js';
import { openAiAgentsImporter } from './openai-agents/openai-agents.js';
import { openAiChatImporter } from './openai-chat/openai-chat.js';
import { openCodeImporter } from './opencode/opencode.js';
import { piImporter } from './pi/pi.js';
import { rekindleImporter } from './rekindle/rekindle.js';
import { sweAgentImporter } from './swe-agent/swe-agent.js';
import type { TranscriptImporter } from './transcript.js';

/** Every importer, in the order in which detection tries them. */
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
  chatGptImporter,
  claudeAiImporter,
  aiderImporter,
  specStoryImporter,
  tauBenchImporter,
  shareGptImporter,
  atifImporter,
  copilotCliImporter,
  copilotChatImporter,
  cursorImporter,
  droidImporter,
  gooseImporter,
  adkImporter,
  ampImporter,
  continueImporter,
  kimiImporter,
  sweAgentImporter,
  langGraphImporter,
  uiMessagesImporter,
  aiSdkModelMessagesImporter,
  anthropicImporter,
  responsesImporter,
  geminiImporter,
  openAiChatImporter,
];
