/**
 * Every interleaving of the lease and the seal, on a model of one folder: `docs/formats/lease.md` and `raw_traces.md` in steps that a
 * process can be stopped between, for a while or for ever.
 *
 * `A` has fence 1 and appends (write, sync, check the lease, acknowledge). `B` and `C` take over: look at the numbers, make a file of
 * their own, claim the next number, look again, take the older files away, read where the live file ends, rename it, make a new one
 * with a header that seals the old one, append. In each state that can be reached a reader comes: each record that was acknowledged is
 * there, once, and in the order of the numbers.
 *
 * With `lives` above 1, `C` takes over again after its end. That finds one thing which the protocol does not hold yet: an owner that
 * was fenced off between its check and its rename, and wakes between the rename and the new file of the owner after the next, makes a
 * live file whose number is one that was read already. Its file then counts in place of that one.
 *
 * `link`: the number is a second name for a file that is whole. `create`: it is made exclusively, and written afterwards, as on file
 * systems without hard links.
 */
export type ClaimMode = 'link' | 'create';

export type PlantedFault =
  | 'no check' // the writer acknowledges without looking at its lease
  | 'check before the write'
  | 'no seal' // the new owner goes on in the old file
  | 'number written over'; // the claim is not exclusive

interface Actor {
  fence: number;
  /** Where it stands, by name. */
  at: string;
  file: number;
  /** Records still to write. */
  left: number;
  lives: number;
  want: number;
  written: string;
  endFile: number;
  endLength: number;
  renamed: boolean;
  seq: number;
}

interface State {
  /** Files of contenders, `<fence>-<who><life>`, and numbers; 0: not whole. */
  tokens: string[];
  numbers: [fence: number, whole: number][];
  live: number;
  /** Files that were renamed: sealed, or set aside. */
  sealed: number[];
  files: { number: number; fence: number; beforeLength: number; beforeSeq: number; records: string[] }[];
  acknowledged: string[];
  actors: Record<string, Actor>;
}

export interface Explored {
  readonly states: number;
  readonly bad: number;
  /** The steps to the first bad state. */
  readonly path: readonly string[] | null;
}

const NAMES = ['A', 'B', 'C'] as const;

function actor(fence: number, left: number, lives: number): Actor {
  const at = fence > 0 ? 'write' : 'look';
  return {
    fence,
    at,
    file: fence > 0 ? 0 : -1,
    left,
    lives,
    want: 0,
    written: '',
    endFile: -1,
    endLength: 0,
    renamed: false,
    seq: 0,
  };
}

function begin(lives: number): State {
  return {
    tokens: ['1-A1'],
    numbers: [[1, 1]],
    live: 0,
    sealed: [],
    files: [{ number: 1, fence: 1, beforeLength: 0, beforeSeq: 0, records: [] }],
    acknowledged: [],
    actors: { A: actor(1, 2, 1), B: actor(0, 1, 1), C: actor(0, 1, lives) },
  };
}

class Step {
  readonly #state: State;
  readonly #who: string;
  readonly #mode: ClaimMode;
  readonly #fault: PlantedFault | null;

  constructor(state: State, who: string, mode: ClaimMode, fault: PlantedFault | null) {
    this.#state = state;
    this.#who = who;
    this.#mode = mode;
    this.#fault = fault;
  }

  get #self(): Actor {
    return this.#state.actors[this.#who]!;
  }

  #token(fence: number): string {
    return `${fence}-${this.#who}${this.#self.lives}`;
  }

  #holds(): boolean {
    return this.#state.tokens.includes(this.#token(this.#self.fence));
  }

  #go(at: string): true {
    this.#self.at = at;
    return true;
  }

  /** Takes the next step of this actor. False when it has none. */
  take(): boolean {
    const self = this.#self;
    if (self.at === 'end') return self.lives > 1 && this.#again();
    const step = this.#steps[self.at];
    return step ? step() : false;
  }

  /** As a new process. */
  #again(): boolean {
    const { lives } = this.#self;
    this.#state.actors[this.#who] = { ...actor(0, 1, lives - 1) };
    return true;
  }

  readonly #steps: Record<string, () => boolean> = {
    look: () => {
      this.#self.want = Math.max(...this.#state.numbers.map(([fence]) => fence)) + 1;
      return this.#go('token');
    },
    token: () => {
      this.#state.tokens.push(this.#token(this.#self.want));
      return this.#go(this.#mode === 'link' ? 'claim' : 'read token');
    },
    'read token': () => this.#go(this.#state.tokens.includes(this.#token(this.#self.want)) ? 'claim' : 'end'),
    claim: () => this.#claim(),
    fill: () => {
      const number = this.#state.numbers.find(([fence]) => fence === this.#self.want);
      if (number) number[1] = 1;
      return this.#go('look again');
    },
    'look again': () => {
      const { want } = this.#self;
      const isOvertaken = this.#state.numbers.some(([fence]) => fence > want);
      if (isOvertaken) return this.#giveUp(true);
      return this.#go('remove tokens');
    },
    'remove tokens': () => {
      this.#state.tokens = this.#state.tokens.filter(
        (token) => Number(token.split('-')[0]) >= this.#self.want,
      );
      return this.#go('remove numbers');
    },
    'remove numbers': () => {
      this.#state.numbers = this.#state.numbers.filter(([fence]) => fence >= this.#self.want);
      this.#self.fence = this.#self.want;
      return this.#go('read end');
    },
    'read end': () => this.#readEnd(),
    check: () => this.#go(this.#holds() ? 'rename' : 'end'),
    rename: () => this.#rename(),
    'new file': () => this.#newFile(),
    'check first': () => (this.#holds() ? this.#go('write now') : this.#go('end')),
    write: () => {
      if (this.#self.left === 0) return this.#go('end');
      return this.#fault === 'check before the write' ? this.#go('check first') : this.#write();
    },
    'write now': () => this.#write(),
    acknowledge: () => {
      const unchecked = this.#fault === 'no check' || this.#fault === 'check before the write';
      if (!unchecked && !this.#holds()) return this.#go('end');
      this.#state.acknowledged.push(this.#self.written);
      return this.#go('write');
    },
  };

  #claim(): boolean {
    const { want } = this.#self;
    const mine = this.#token(want);
    if (this.#mode === 'link' && !this.#state.tokens.includes(mine)) return this.#go('end');
    const isTaken = this.#state.numbers.some(([fence]) => fence === want);
    if (isTaken && this.#fault !== 'number written over') return this.#giveUp(false);
    if (!isTaken) this.#state.numbers.push([want, this.#mode === 'link' ? 1 : 0]);
    return this.#go(this.#mode === 'link' ? 'look again' : 'fill');
  }

  #giveUp(withNumber: boolean): boolean {
    const { want } = this.#self;
    this.#state.tokens = this.#state.tokens.filter((token) => token !== this.#token(want));
    if (withNumber) this.#state.numbers = this.#state.numbers.filter(([fence]) => fence !== want);
    return this.#go('end');
  }

  #readEnd(): boolean {
    const self = this.#self;
    const last = segments(this.#state).at(-1)!;
    const file = this.#state.files[last]!;
    if (file.fence > self.fence && !this.#holds()) return this.#go('end');
    self.endFile = last;
    self.endLength = file.records.length;
    self.seq = file.beforeSeq + file.records.length;
    self.renamed = this.#state.live !== last;
    if (this.#fault !== 'no seal') return this.#go('check');
    self.file = last;
    return this.#go('write');
  }

  /** A rename has no condition: it moves what has the name now. */
  #rename(): boolean {
    if (this.#self.renamed) return this.#go('new file');
    if (this.#state.live < 0) return this.#go('end');
    this.#state.sealed.push(this.#state.live);
    this.#state.live = -1;
    return this.#go('new file');
  }

  /** Exclusive. What a fenced owner left under the name is set aside. */
  #newFile(): boolean {
    const self = this.#self;
    const { files, live, sealed } = this.#state;
    if (live >= 0) {
      if (!this.#holds()) return this.#go('end');
      sealed.push(live);
      this.#state.live = -1;
      return true;
    }
    const before = files[self.endFile]!;
    const fence = Math.max(self.fence, before.fence);
    files.push({
      number: before.number + 1,
      fence,
      beforeLength: self.endLength,
      beforeSeq: self.seq,
      records: [],
    });
    this.#state.live = self.file = files.length - 1;
    return this.#go('write');
  }

  #write(): boolean {
    const self = this.#self;
    self.seq += 1;
    self.left -= 1;
    self.written = `${this.#who}${self.lives}#${self.seq}`;
    this.#state.files[self.file]!.records.push(self.written);
    return this.#go('acknowledge');
  }
}

/** The files that count, in order: of two with one number the one with the higher fence. */
function segments({ files, live, sealed }: State): number[] {
  const found = new Map<number, number>();
  for (const at of live >= 0 ? [...sealed, live] : sealed) {
    const { number, fence } = files[at]!;
    const other = found.get(number);
    if (other === undefined || files[other]!.fence < fence) found.set(number, at);
  }
  return [...found].sort(([a], [b]) => a - b).map(([, at]) => at);
}

/** What a reader sees: each file up to where the next one says that it ends. */
function read(state: State): string[] {
  const order = segments(state);
  return order.flatMap((at, index) => {
    const next = order[index + 1];
    const length = next === undefined ? Number.POSITIVE_INFINITY : state.files[next]!.beforeLength;
    return state.files[at]!.records.slice(0, length);
  });
}

function isGood(state: State): boolean {
  const records = read(state);
  const numbers = state.acknowledged.map((key) => Number(key.split('#')[1]));
  const once = state.acknowledged.every((key) => records.filter((found) => found === key).length === 1);
  return once && new Set(numbers).size === numbers.length && isInOrder(records);
}

function isInOrder(records: readonly string[]): boolean {
  const numbers = records.map((key) => Number(key.split('#')[1]));
  return numbers.every((number, index) => index === 0 || number > numbers[index - 1]!);
}

/** All states that can be reached; with a fault, up to the first that is bad. @param lives how often `C` takes over */
export function explore(mode: ClaimMode, lives: number, fault: PlantedFault | null = null): Explored {
  const start = JSON.stringify(begin(lives));
  const from = new Map<string, { readonly before: string; readonly who: string } | null>([[start, null]]);
  const todo = [start];
  let bad = 0;
  let path: string[] | null = null;
  for (let key = todo.pop(); key !== undefined; key = todo.pop()) {
    if (!isGood(JSON.parse(key) as State)) {
      bad += 1;
      path ??= pathTo(from, key);
      if (fault) break;
    }
    for (const who of NAMES) {
      const state = JSON.parse(key) as State;
      const at = state.actors[who]!.at;
      if (!new Step(state, who, mode, fault).take()) continue;
      const next = JSON.stringify(state);
      if (from.has(next)) continue;
      from.set(next, { before: key, who: `${who}: ${at}` });
      todo.push(next);
    }
  }
  return { states: from.size, bad, path };
}

function pathTo(
  from: ReadonlyMap<string, { readonly before: string; readonly who: string } | null>,
  end: string,
): string[] {
  const path: string[] = [];
  for (let step = from.get(end); step; step = from.get(step.before)) path.unshift(step.who);
  return path;
}
