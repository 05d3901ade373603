/** Trajectories of SWE-agent with steps and no history: the model's answers, and the outputs of its commands. */
import type { JsonObject, JsonValue } from '../../../core/json.js';
import { setOwn } from '../../../core/json.js';
import type { LossAccount } from '../loss-account.js';
import { type JsonPath, type SliceChoice, sliceJson } from '../reading/json-slices.js';
import { textField } from '../reading/record-fields.js';
import type { TranscriptSource } from '../transcript.js';
import { saidOf } from './swe-agent-message.js';

export interface HistoryEntry {
  readonly json: JsonValue;
  readonly place: string;
}

const HELD: ReadonlySet<unknown> = new Set(['action', 'observation', 'response', 'thought']);

/** The steps as history entries. The query of the first step holds the messages before it. */
export async function* entriesOfSteps(
  source: TranscriptSource,
  losses: LossAccount,
): AsyncGenerator<HistoryEntry> {
  let step: JsonObject = {};
  let index = -1;
  const slices = sliceJson(source.chunks(), (path) => stepChoice(path, losses));
  for await (const { path, value } of slices) {
    const [, at, name] = path;
    if (typeof at !== 'number') continue;
    if (at !== index) {
      yield* entriesOf(step, `trajectory/${index}`, losses);
      losses.record();
      step = {};
      index = at;
    }
    if (name === 'query') yield { json: value, place: path.join('/') };
    else if (typeof name === 'string') setOwn(step, name, value);
    else losses.drop('a member that is not a step', path.join('/'));
  }
  yield* entriesOf(step, `trajectory/${index}`, losses);
}

function* entriesOf(step: JsonObject, place: string, losses: LossAccount): Generator<HistoryEntry> {
  const said = textOfStep(step, place, losses);
  if (said !== undefined) yield { json: { role: 'assistant', content: said }, place };
  const { observation } = step;
  if (observation !== undefined && observation !== null)
    yield { json: { role: 'user', content: observation }, place };
}

/** The response contains the action, unless the action was a tool call. */
function textOfStep(step: JsonObject, place: string, losses: LossAccount): string | undefined {
  const response = textField(step, 'response');
  const action = textField(step, 'action')?.trim() ?? '';
  if (response !== undefined && response !== '' && response.includes(action)) return response;
  const hasResponse = response !== undefined && response !== '';
  const said = saidOf(hasResponse ? { ...step, thought: response } : step);
  if (action !== '') losses.approximate('an action, as text', place);
  return said;
}

function stepChoice(path: JsonPath, losses: LossAccount): SliceChoice {
  const [list, at, name, member] = path;
  if (list === undefined) return 'enter';
  if (list !== 'trajectory') {
    losses.drop('a field beside the steps', path.join('/'));
    return 'skip';
  }
  if (at === undefined || name === undefined) return 'enter';
  if (name === 'query' && at === 0) return member === undefined ? 'enter' : 'take';
  return HELD.has(name) ? 'take' : 'skip';
}
