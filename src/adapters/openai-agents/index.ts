/** Durable sessions for the OpenAI Agents SDK: `rekindle/openai-agents`. */
export { RekindleSession, type RekindleSessionOptions } from './rekindle-session.js';
