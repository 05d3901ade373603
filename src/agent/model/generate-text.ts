import type { GenerateText } from '../../memory/compaction/model-summarizer.js';
import { ResponseCollector } from './collect-response.js';
import type { LanguageModel } from './language-model.js';
import { type RetryOptions, retryingStream } from './retrying-stream.js';

/**
 * Adapts a model to the function that memory's `ModelSummarizer` needs: `new
 * ModelSummarizer(generateTextWith(model))`. The function throws MODEL_FAILED after its retries.
 */
export function generateTextWith(model: LanguageModel, retry: RetryOptions = {}): GenerateText {
  return async (prompt, signal) => {
    let collector = new ResponseCollector(model.origin);
    const request = {
      messages: [{ role: 'user' as const, content: prompt }],
      tools: [],
      signal: signal ?? new AbortController().signal,
      loadArtifact: async () => null,
    };
    for await (const event of retryingStream(model, request, retry)) {
      if (event.type === 'retry') collector = new ResponseCollector(model.origin);
      else collector.add(event);
    }
    return collector.text;
  };
}
