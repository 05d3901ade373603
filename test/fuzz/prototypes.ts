/** Notices when an input reached the objects that all others inherit from. */
const SHARED: readonly (readonly [string, object])[] = [
  ['Object.prototype', Object.prototype],
  ['Array.prototype', Array.prototype],
  ['Function.prototype', Function.prototype],
  ['String.prototype', String.prototype],
  ['Number.prototype', Number.prototype],
  ['Map.prototype', Map.prototype],
  ['Set.prototype', Set.prototype],
  ['Promise.prototype', Promise.prototype],
  ['Object', Object],
];

export class PrototypeWatch {
  readonly #before = new Map(SHARED.map(([name, object]) => [name, snapshotOf(object)]));

  /** Cheap: whether what every object inherits has grown or shrunk. */
  looksChanged(): boolean {
    return Reflect.ownKeys(Object.prototype).length !== this.#before.get('Object.prototype')!.size;
  }

  /** What is not as it was, or null; what was added is taken away, so that one finding does not hide the next. */
  change(): string | null {
    for (const [name, object] of SHARED) {
      const before = this.#before.get(name)!;
      const keys = Reflect.ownKeys(object);
      const added = keys.find((key) => !before.has(key));
      if (added !== undefined) {
        Reflect.deleteProperty(object, added);
        return `${name} has ${String(added)} now`;
      }
      if (keys.length !== before.size) return `${name} lost a property`;
      for (const [key, value] of before) {
        const now = Object.getOwnPropertyDescriptor(object, key);
        if (now && 'value' in now && now.value !== value) return `${name}.${String(key)} is another one now`;
      }
    }
    return null;
  }
}

function snapshotOf(object: object): Map<string | symbol, unknown> {
  const keys = Reflect.ownKeys(object);
  return new Map(keys.map((key) => [key, Object.getOwnPropertyDescriptor(object, key)?.value as unknown]));
}
