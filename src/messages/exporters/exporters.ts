/** Every exporter. */
import { claudeCodeExporter } from './claude-code-exporter.js';
import { codexExporter } from './codex-exporter.js';
import { markdownExporter } from './markdown-exporter.js';
import { rekindleExporter } from './rekindle-exporter.js';
import {
  anthropicExporter,
  geminiExporter,
  openAiChatExporter,
  openAiResponsesExporter,
} from './request-exporters.js';
import type { TranscriptExporter } from './transcript-exporter.js';
import { uiMessageExporter } from './ui-message-exporter.js';

/** Every exporter, for choosing one by its `format`. */
export const EXPORTERS: readonly TranscriptExporter[] = [
  openAiChatExporter,
  openAiResponsesExporter,
  anthropicExporter,
  geminiExporter,
  uiMessageExporter,
  claudeCodeExporter,
  codexExporter,
  markdownExporter,
  rekindleExporter,
];
