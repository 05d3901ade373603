/** Typed events. A listener that throws is reported to `onListenerError`, never to the code that emits. */

export type EventMap = { [name: string]: unknown };
type Listener<T> = (event: T) => void;

export class TypedEvents<Events extends EventMap> {
  readonly #listeners = new Map<keyof Events, Set<Listener<never>>>();
  /** Receives errors that listeners throw. Ignores them by default. */
  onListenerError: (thrown: unknown) => void = () => {};

  /** Adds a listener. The returned function removes it. */
  on<Name extends keyof Events>(name: Name, listener: Listener<Events[Name]>): () => void {
    let listeners = this.#listeners.get(name);
    if (!listeners) this.#listeners.set(name, (listeners = new Set()));
    listeners.add(listener as Listener<never>);
    return () => listeners.delete(listener as Listener<never>);
  }

  /** Whether an event of this name has a listener. */
  isHeard(name: keyof Events): boolean {
    return (this.#listeners.get(name)?.size ?? 0) > 0;
  }

  emit<Name extends keyof Events>(name: Name, event: Events[Name]): void {
    for (const listener of this.#listeners.get(name) ?? []) {
      try {
        (listener as Listener<Events[Name]>)(event);
      } catch (thrown) {
        this.onListenerError(thrown);
      }
    }
  }
}
