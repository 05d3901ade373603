/**
 * Durable sessions for the OpenAI Agents SDK, and requests that fit the model.
 *
 * @module rekindle/openai-agents
 */
export { type FitInputOptions, fitInput } from './fit-input.js';
export { RekindleSession, type RekindleSessionOptions } from './rekindle-session.js';
