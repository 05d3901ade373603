/** Classifies contexts by the current rules. */
import { isRekindleError, messageOf } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import { ConfigFile } from '../../storage/config-file.js';
import { readLocalFile } from '../../storage/file/local-file.js';
import type { Documents, Name } from '../../storage/ports.js';
import type { CheckpointConfig } from '../config/checkpoint-config.js';
import type { LayerSummary } from '../session/checkpoint-record.js';
import { byLayer, type ClassifiedContext, classify } from './classify.js';
import { type ContextView, viewContext } from './context-view.js';
import {
  type ClassificationRules,
  type CompiledRules,
  checkRules,
  compileRules,
  DEFAULT_RULES,
} from './rules.js';

export class Classifier {
  readonly #file: ConfigFile<ClassificationRules>;
  readonly #heuristics: boolean;
  #compiled: { readonly from: ClassificationRules; readonly rules: CompiledRules } | null = null;

  constructor(documents: Documents, folder: Name, config: CheckpointConfig['classification']) {
    const { rulesPath, enableHeuristics } = config;
    const name = [...folder, 'config', 'classification.json'];
    this.#heuristics = enableHeuristics;
    this.#file = new ConfigFile({
      name: rulesPath === null ? name : [rulesPath],
      read: () => (rulesPath === null ? documents.readBytes(name) : readLocalFile(rulesPath)),
      check: checkRules,
    });
  }

  /**
   * The rules in their file now; the built-in ones if there is none. @throws DOCUMENT_DAMAGED, RULES_INVALID
   */
  async rules(): Promise<CompiledRules> {
    const from = (await this.#file.read()) ?? DEFAULT_RULES;
    if (this.#compiled?.from !== from) this.#compiled = { from, rules: await compileRules(from) };
    return this.#compiled.rules;
  }

  /** @throws DOCUMENT_DAMAGED, RULES_INVALID */
  async classify(context: JsonObject, marks: ReadonlySet<string>): Promise<ClassifiedContext> {
    return byLayer(context, await this.#verdicts(context, marks));
  }

  /** @throws DOCUMENT_DAMAGED, RULES_INVALID */
  async view(context: JsonObject, marks: ReadonlySet<string>, budget: number): Promise<ContextView> {
    const { budgets } = await this.rules();
    return viewContext(context, await this.#verdicts(context, marks), budget, budgets);
  }

  /**
   * Keys and bytes of each layer. Invalid rules give a warning, because they must not prevent a save. @param
   * sizes bytes of each value, by its key
   */
  async summarize(
    context: JsonObject,
    sizes: ReadonlyMap<string, number>,
    marks: ReadonlySet<string>,
  ): Promise<{ readonly layers: LayerSummary | null; readonly warnings: string[] }> {
    try {
      return { layers: summaryOf(sizes, await this.#verdicts(context, marks)), warnings: [] };
    } catch (thrown) {
      if (!isRekindleError(thrown)) throw thrown;
      return { layers: null, warnings: [`The context was not classified: ${messageOf(thrown)}`] };
    }
  }

  async #verdicts(context: JsonObject, marks: ReadonlySet<string>) {
    return classify(context, await this.rules(), { marks, heuristics: this.#heuristics });
  }
}

function summaryOf(sizes: ReadonlyMap<string, number>, verdicts: ReturnType<typeof classify>): LayerSummary {
  const summary: Record<string, { keys: number; bytes: number }> = {};
  for (const { key, layer } of verdicts) {
    if (!sizes.has(key)) continue; // undefined values are not saved
    const counted = (summary[layer] ??= { keys: 0, bytes: 0 });
    counted.keys += 1;
    counted.bytes += sizes.get(key) ?? 0;
  }
  return summary;
}
