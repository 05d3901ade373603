/**
 * What must be known of an Inspect log before its messages can be read: the first sample with messages, and the
 * positions of its attachments. Attachments may be whole files, so only their positions are kept.
 */
import type { JsonValue } from '../../../core/json.js';
import { type JsonPath, type SliceChoice, sliceJson } from '../reading/json-slices.js';
import { idText } from '../reading/record-fields.js';
import type { TranscriptSource } from '../transcript.js';

export interface InspectOutline {
  /** Index of the sample that is read; -1 if none has messages. */
  readonly sample: number;
  /** Ids of all samples, by index. The id of a sample that ran more than once includes its epoch. */
  readonly ids: readonly string[];
  /** Model of the run, prefixed with its provider. */
  readonly model: string | undefined;
  /** Offsets of the attachments of that sample, by their digest. */
  readonly attachments: ReadonlyMap<string, number>;
}

export async function outlineOf(source: TranscriptSource): Promise<InspectOutline> {
  const draft = new OutlineDraft();
  const slices = sliceJson(source.chunks(), (path) => draft.choose(path));
  for await (const { path, value, start } of slices) draft.note(path, value, start);
  return draft;
}

class OutlineDraft implements InspectOutline {
  sample = -1;
  readonly ids: string[] = [];
  model: string | undefined;
  readonly attachments = new Map<string, number>();
  /** Sample whose attachments are recorded. */
  #holder = -1;

  choose([top, at, name, member]: JsonPath): SliceChoice {
    if (top === undefined) return 'enter';
    if (top === 'eval') return at === undefined ? 'enter' : at === 'model' ? 'take' : 'skip';
    if (top !== 'samples') return 'skip';
    if (typeof at !== 'number' || name === undefined) return 'enter';
    if (name === 'id' || name === 'epoch') return 'take';
    if (name === 'messages' && typeof member === 'number' && this.sample < 0) this.#take(at);
    if (name === 'messages') return member === undefined ? 'enter' : 'skip';
    if (name !== 'attachments' || (this.sample >= 0 && this.sample !== at)) return 'skip';
    return member === undefined ? 'enter' : 'take';
  }

  note([top, at, name, member]: JsonPath, value: JsonValue, start: number): void {
    if (top === 'eval') {
      if (typeof value === 'string') this.model = value;
    } else if (typeof at === 'number' && name === 'id') this.ids[at] = idText(value);
    else if (typeof at === 'number' && name === 'epoch' && value !== 1)
      this.ids[at] = `${this.ids[at] ?? ''}, epoch ${idText(value)}`;
    else if (typeof at === 'number' && typeof member === 'string') this.#attach(at, member, start);
  }

  #take(sample: number): void {
    this.sample = sample;
    if (this.#holder !== sample) this.attachments.clear();
  }

  #attach(sample: number, digest: string, start: number): void {
    if (sample !== this.#holder) this.attachments.clear();
    this.#holder = sample;
    this.attachments.set(digest, start);
  }
}
