/** Describes a restore report in plain words. */
import type { InterruptedCall, RestoreReport } from '../memory/restore/restore-report.js';
import { excerpt } from './safe-text.js';

const SOURCE_TEXT: Record<RestoreReport['source'], string> = {
  cache: 'from its cache, which was current',
  'cache+tail': 'from its cache and the traces after it',
  rebuilt: 'from its traces alone, without the cache',
  imported: 'from a snapshot of another format',
  checkpoint: 'from a checkpoint',
};

const VERDICT_TEXT: Record<InterruptedCall['verdict'], string> = {
  finished: 'it had finished; its recorded result is used',
  not_started: 'it had not started, so it had no effect',
  outcome_unknown: 'it was running; whether it took effect is unknown, and the model is informed',
};

const FRONTIER_TEXT: Record<RestoreReport['frontier']['kind'], string> = {
  idle: 'between two turns',
  awaiting_assistant: 'waiting for the model to answer',
  interrupted_tools: 'in the middle of tool calls',
};

export function describeReport(report: RestoreReport): string[] {
  const lines = [
    `The context of ${excerpt(report.agentId, 60)} was restored ${SOURCE_TEXT[report.source]}, in ${report.phasesMs.total.toFixed(1)} ms.`,
    `It has ${count(report.messages, 'message')}; the conversation had stopped ${FRONTIER_TEXT[report.frontier.kind]}.`,
  ];
  const refused = report.cacheRefused;
  if (refused) lines.push(`The cache was not used (${refused.reason}): ${refused.detail}.`);
  if (report.tracesReplayed > 0) lines.push(`${count(report.tracesReplayed, 'trace')} applied.`);
  for (const call of report.interruptedCalls) lines.push(describeCall(call));
  for (const answer of report.cutOffAnswers) lines.push(describeCutOff(answer));
  for (const repair of report.repairs) {
    if (!isInterruptedResult(repair, report))
      lines.push(`Repaired (${repair.code}) at message ${repair.messageIndex}: ${repair.reason}.`);
  }
  for (const recall of report.recalls) lines.push(describeRecall(recall));
  for (const item of report.damage) {
    const aside = item.setAside ? `; the bytes were moved to ${item.setAside}` : '';
    lines.push(
      `Damage (${item.reason}) in ${item.file}: ${count(item.bytes, 'byte')} at ${item.startByte}${aside}.`,
    );
  }
  if (report.erased > 0)
    lines.push(`${count(report.erased, 'record')} of this agent were erased on request.`);
  if (report.tracesIgnored > 0)
    lines.push(
      `${count(report.tracesIgnored, 'result')} did not fit into the context and stayed only in the traces.`,
    );
  for (const { type, seq, count: found } of report.tracesUnknown)
    lines.push(
      `${count(found, 'trace')} of an unknown kind (${excerpt(type, 40)}) from record ${seq} on are not in the context. A newer release may have written them.`,
    );
  if (report.promptChanged) lines.push('The system prompt has changed.');
  for (const unknown of report.unknown) lines.push(`Unknown: ${unknown}`);
  if (!report.cacheWritable)
    lines.push('A newer release wrote the cache file. Turns are saved, but the cache is not updated.');
  return lines;
}

function describeCutOff({ turnId, characters, isCutOff }: RestoreReport['cutOffAnswers'][number]): string {
  const what = isCutOff ? 'An answer was cut off' : 'An answer was not recorded';
  return `${what} in ${excerpt(turnId, 48)}: the ${count(characters, 'character')} that had been delivered are in the context.`;
}

/** Passages of one line. */
const RECALLED_SHOWN = 3;
const BECAUSE = { meaning: 'by its meaning', related: 'next to a match, or similar to it' } as const;

function describeRecall({ turnId, passages, best }: RestoreReport['recalls'][number]): string {
  const turn = turnId === null ? 'a request' : excerpt(turnId, 48);
  const shown = best.slice(0, RECALLED_SHOWN).map(({ turnId: from, speaker, toolName, words, because }) => {
    const who = toolName === null ? speaker : `${speaker} ${excerpt(toolName, 40)}`;
    const why = because === 'words' ? `has ${excerpt(words.join(', '), 80)}` : BECAUSE[because];
    return `${excerpt(from, 48)} ${who} (${why})`;
  });
  const more = passages > shown.length && shown.length > 0 ? '; ...' : '';
  return `Recalled for ${turn}: ${count(passages, 'passage')}${shown.length > 0 ? `: ${shown.join('; ')}` : ''}${more}.`;
}

const WAITS_FOR = { approval: 'approval', client: 'its result from the client' } as const;

function describeCall(call: InterruptedCall): string {
  const waits = call.waitsFor === null ? '' : ` It was waiting for ${WAITS_FOR[call.waitsFor]}.`;
  return `Interrupted call ${excerpt(call.toolName, 40)} (${excerpt(call.callId, 60)}): ${VERDICT_TEXT[call.verdict]}.${waits}`;
}

function isInterruptedResult(repair: RestoreReport['repairs'][number], report: RestoreReport): boolean {
  return report.interruptedCalls.some((call) => call.callId === repair.callId);
}

export function count(number: number, noun: string): string {
  return `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;
}
