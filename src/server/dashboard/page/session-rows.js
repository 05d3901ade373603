/** The session tree as rows: filtered, sorted, without what is below a collapsed session. */

/** @typedef {import('./wire.js').Session} Session */
/** @typedef {{ session: Session, depth: number, children: number, isCollapsed: boolean, isMatch: boolean }} SessionRow */
/** @typedef {{ words: string, status: string, sort: string, collapsed: ReadonlySet<string> }} SessionQuery */

/** @param {readonly Session[]} sessions oldest first @param {SessionQuery} query */
export function sessionRows(sessions, { words, status, sort, collapsed }) {
  const known = new Map(sessions.map((session) => [session.id, session]));
  const isFiltered = words !== '' || status !== '';
  const matches = new Set(sessions.filter((session) => fits(session, words.toLowerCase(), status)));
  const visible = isFiltered ? withAncestors(matches, known) : new Set(sessions);
  const { tops, below } = branches(sessions, known, visible);
  if (sort === 'created')
    tops.reverse(); // the newest root first, its children in the order of their start
  else for (const siblings of [tops, ...below.values()]) siblings.sort(ORDERS[sort]);
  /** @type {SessionRow[]} */
  const rows = [];
  const waiting = tops.toReversed().map((session) => ({ session, depth: 0 }));
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { session, depth } = next;
    const children = below.get(session.id) ?? [];
    const isCollapsed = !isFiltered && collapsed.has(session.id);
    rows.push({ session, depth, children: children.length, isCollapsed, isMatch: matches.has(session) });
    if (!isCollapsed)
      for (const child of children.toReversed()) waiting.push({ session: child, depth: depth + 1 });
  }
  return { rows, found: matches.size };
}

/** @param {Session} session @param {string} words in lower case @param {string} status */
function fits({ id, agent, why, status: own }, words, status) {
  if (status !== '' && own !== status) return false;
  return words === '' || [id, agent ?? '', why ?? ''].some((text) => text.toLowerCase().includes(words));
}

/** The sessions with those above them, which show where they belong. @param {ReadonlySet<Session>} sessions @param {ReadonlyMap<string, Session>} known */
function withAncestors(sessions, known) {
  const all = new Set(sessions);
  for (const session of sessions)
    for (let above = parentOf(session, known); above && !all.has(above); above = parentOf(above, known))
      all.add(above);
  return all;
}

/** @param {Session} session @param {ReadonlyMap<string, Session>} known */
function parentOf({ parent }, known) {
  return parent === null ? undefined : known.get(parent);
}

/** @param {readonly Session[]} sessions @param {ReadonlyMap<string, Session>} known @param {ReadonlySet<Session>} visible */
function branches(sessions, known, visible) {
  /** @type {Session[]} */
  const tops = [];
  /** @type {Map<string, Session[]>} */
  const below = new Map();
  for (const session of sessions) {
    if (!visible.has(session)) continue;
    const parent = parentOf(session, known);
    const siblings = parent ? (below.get(parent.id) ?? []) : tops;
    siblings.push(session);
    if (parent) below.set(parent.id, siblings);
  }
  return { tops, below };
}

/** @type {Readonly<Record<string, (a: Session, b: Session) => number>>} */
const ORDERS = {
  id: (a, b) => (a.id < b.id ? -1 : 1),
  status: (a, b) => (a.status === b.status ? 0 : a.status < b.status ? -1 : 1),
  updated: (a, b) => (a.updated_at === b.updated_at ? 0 : a.updated_at > b.updated_at ? -1 : 1),
};
