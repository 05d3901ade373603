/**
 * Models of the Vercel AI SDK. Needs the package `ai`.
 *
 * @module rekindle/ai-sdk
 */
export { type AiSdkModelOptions, aiSdkModel } from './ai-sdk-model.js';
