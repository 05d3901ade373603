/**
 * Evaluation logs of Inspect AI: the conversation of the first sample that has one. The other samples are listed as
 * dropped, by id.
 */
import { RekindleError } from '../../../core/errors.js';
import { isJsonObject, type JsonObject } from '../../../core/json.js';
import type { LossAccount } from '../loss-account.js';
import { type JsonPath, type SliceChoice, sliceJson } from '../reading/json-slices.js';
import { keepMessage } from '../reading/keep-message.js';
import { listField, objectField } from '../reading/record-fields.js';
import type { TranscriptHead, TranscriptImporter, TranscriptItem, TranscriptSource } from '../transcript.js';
import { Attachments } from './inspect-attachments.js';
import { InspectReader } from './inspect-message.js';
import { type InspectOutline, outlineOf } from './inspect-outline.js';

/** The format of a newer major version is not known. */
const VERSION_MAX = 2;

export const inspectImporter: TranscriptImporter = {
  format: 'inspect',
  title: 'Inspect AI evaluation logs',
  lookedFor: '`version`, `status`, and `eval` with a task and a model; the messages are in `samples`',
  recognises,
  read,
};

function recognises({ shape, keys, fields }: TranscriptHead): boolean {
  if (shape !== 'object' || !keys.has('status') || !keys.has('eval')) return false;
  const about = objectField(fields, 'eval');
  const isEval = 'task' in about && ('model' in about || 'run_id' in about || 'dataset' in about);
  const [sample] = listField(fields, 'samples');
  return isEval && (sample === undefined || isSample(sample));
}

function isSample(sample: unknown): boolean {
  return isJsonObject(sample) && ('messages' in sample || 'epoch' in sample || 'input' in sample);
}

async function* read(source: TranscriptSource, losses: LossAccount): AsyncGenerator<TranscriptItem> {
  await checkVersion(source);
  const outline = await outlineOf(source);
  const attachments = new Attachments(source, outline.attachments, losses);
  const reader = new InspectReader(outline.model, losses);
  for await (const { path, value } of sliceJson(source.chunks(), (at) => choose(at, outline, losses))) {
    const index = path[3];
    if (typeof index !== 'number') continue;
    losses.record();
    const place = `messages/${index}`;
    const message = reader.read(await attachments.resolve(value, place), place);
    if (!message) continue;
    keepMessage(message, losses);
    yield { kind: 'message', message };
  }
}

function choose(path: JsonPath, outline: InspectOutline, losses: LossAccount): SliceChoice {
  const [top, sample, name, index] = path;
  if (top === undefined) return 'enter';
  if (top !== 'samples') {
    losses.drop('a field beside the samples', path.join('/'));
    return 'skip';
  }
  if (sample === undefined) return 'enter';
  if (sample !== outline.sample) {
    losses.record();
    losses.drop('another sample', `samples/${sample} (id ${outline.ids[Number(sample)] ?? 'unknown'})`);
    return 'skip';
  }
  if (name === undefined) return 'enter';
  if (name === 'messages') return index === undefined ? 'enter' : 'take';
  if (name !== 'id' && name !== 'attachments') losses.drop('a field of the sample', path.join('/'));
  return 'skip';
}

async function checkVersion(source: TranscriptSource): Promise<void> {
  const head: JsonObject = {};
  const slices = sliceJson(source.chunks(), ([top, inner]) => {
    if (top === undefined) return 'enter';
    return top === 'version' && inner === undefined ? 'take' : 'skip';
  });
  for await (const { value } of slices) {
    head['version'] = value;
    break;
  }
  const { version } = head;
  if (typeof version !== 'number' || version <= VERSION_MAX) return;
  throw new RekindleError('UNSUPPORTED_VERSION', `The log has version ${version} of Inspect's format.`, {
    details: { version, versionMax: VERSION_MAX },
  });
}
