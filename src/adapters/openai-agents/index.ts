/**
 * Durable sessions for the OpenAI Agents SDK.
 *
 * @module rekindle/openai-agents
 */
export { RekindleSession, type RekindleSessionOptions } from './rekindle-session.js';
