/**
 * Trajectories of SWE-agent and mini-swe-agent, in all their shapes. The history is what the model was shown, so it is
 * preferred to the steps, which repeat it. Steps are read only if there is no history.
 */
import { RekindleError } from '../../../core/errors.js';
import { isJsonObject, type JsonObject, type JsonValue, tryParseJson } from '../../../core/json.js';
import { headOf } from '../detect-format.js';
import type { LossAccount } from '../loss-account.js';
import { sliceJson } from '../reading/json-slices.js';
import { keepMessage } from '../reading/keep-message.js';
import { objectField, textField } from '../reading/record-fields.js';
import type { TranscriptImporter, TranscriptItem, TranscriptSource } from '../transcript.js';
import { type SweAgentLayout, sweAgentLayoutOf } from './swe-agent-layout.js';
import { SweAgentReader } from './swe-agent-message.js';
import { entriesOfSteps, type HistoryEntry } from './swe-agent-steps.js';

/** Places of the settings of a run; a text in newer versions. */
const SETTINGS: ReadonlySet<string> = new Set(['replay_config', 'info/config']);

export const sweAgentImporter: TranscriptImporter = {
  format: 'swe-agent',
  title: 'SWE-agent and mini-swe-agent trajectories',
  lookedFor:
    '`history` or a list of messages with `agent`, `message_type`, `thought` and `action`, or `extra`; or `trajectory` with `action` and `observation`',
  recognises: (head) => sweAgentLayoutOf(head) !== null,
  read,
};

async function* read(source: TranscriptSource, losses: LossAccount): AsyncGenerator<TranscriptItem> {
  const head = await headOf(source);
  const layout = head && sweAgentLayoutOf(head);
  if (!layout) throw invalid();
  const reader = new SweAgentReader(await modelIn(source), losses);
  const entries = layout === 'steps' ? entriesOfSteps(source, losses) : entriesOfList(source, layout, losses);
  for await (const { json, place } of entries) {
    const item = reader.read(json, place);
    if (!item) continue;
    keepMessage(item.message, losses);
    yield item;
  }
}

async function* entriesOfList(
  source: TranscriptSource,
  layout: SweAgentLayout,
  losses: LossAccount,
): AsyncGenerator<HistoryEntry> {
  const list = layout === 'list' ? '' : layout;
  const slices = sliceJson(source.chunks(), (path) => {
    const name = path.join('/');
    if (name === '' || name === list || name === 'trajectory') return 'enter';
    if (path.slice(0, -1).join('/') === list && typeof path.at(-1) === 'number') return 'take';
    losses.drop(
      path[0] === 'trajectory' ? 'a step that the history tells too' : 'a field next to the messages',
      name,
    );
    return 'skip';
  });
  for await (const { path, value } of slices) {
    const index = path.at(-1);
    if (typeof index !== 'number') continue;
    losses.record();
    yield { json: value, place: `messages/${index}` };
  }
}

/** The settings come after the history, so they are read first. */
async function modelIn(source: TranscriptSource): Promise<string | undefined> {
  const slices = sliceJson(source.chunks(), (path) => {
    const name = path.join('/');
    if (SETTINGS.has(name)) return 'take';
    return name === '' || name === 'info' ? 'enter' : 'skip';
  });
  for await (const { path, value } of slices) {
    const model = SETTINGS.has(path.join('/')) ? modelOf(value) : undefined;
    if (model !== undefined) return model;
  }
  return undefined;
}

function modelOf(settings: JsonValue): string | undefined {
  const given = typeof settings === 'string' ? tryParseJson(settings) : settings;
  if (!isJsonObject(given)) return undefined;
  const holders: JsonObject[] = [objectField(given, 'agent'), given];
  return holders
    .map((holder) => textField(objectField(holder, 'model'), 'name', 'model_name'))
    .find((name) => name !== undefined);
}

function invalid(): RekindleError {
  return new RekindleError('TRANSCRIPT_INVALID', 'The document contains neither a history nor steps.', {
    details: { lookedFor: sweAgentImporter.lookedFor },
  });
}
