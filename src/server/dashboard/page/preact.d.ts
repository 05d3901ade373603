/** The used parts of Preact and htm, which are served as one file without types. */

/** The result of a view; only `html` makes it. */
export interface View {
  readonly type: unknown;
}

export function html(strings: TemplateStringsArray, ...values: unknown[]): View;
export function render(view: View, parent: Element): void;
export function useState<T>(initial: T): [T, (next: T | ((before: T) => T)) => void];
export function useEffect(effect: () => unknown, inputs?: readonly unknown[]): void;
export function useMemo<T>(make: () => T, inputs: readonly unknown[]): T;
export function useRef<T>(initial: T): { current: T };
