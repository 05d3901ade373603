import { checkHistory, contextOf, openTranscript, project, repairHistory, sourceOf } from 'rekindle/messages';

export async function look(text) {
  const messages = await contextOf(await openTranscript(sourceOf(text)));
  const repaired = repairHistory(messages).messages;
  return { left: checkHistory(repaired).length, request: project('anthropic', repaired).request };
}
