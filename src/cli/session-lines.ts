/** The tree of sessions as lines for people. */
import type { TreeSession } from '../state/shared/sessions/session-record.js';
import type { OrphanSession } from '../state/shared/sessions/session-tree.js';
import { excerpt } from './safe-text.js';

/** A session at its place in the tree. */
interface PlacedSession {
  readonly session: TreeSession;
  /** 0 for a session at the top. */
  readonly depth: number;
}

/** One line of the tree. */
export interface TreeRow extends TreeSession {
  readonly depth: number;
  readonly orphan: Pick<OrphanSession, 'reason' | 'ancestor'> | null;
}

/**
 * Parents before their children, siblings oldest first. At the top: one session, or for null all roots, and
 * sessions whose parent is missing.
 */
export function orderedSessions(sessions: readonly TreeSession[], top: string | null): PlacedSession[] {
  const known = new Set(sessions.map(({ id }) => id));
  const below = new Map<string | null, TreeSession[]>();
  for (const session of sessions) {
    const siblings = below.get(session.parent);
    if (siblings) siblings.push(session);
    else below.set(session.parent, [session]);
  }
  const isTop = ({ id, parent }: TreeSession) =>
    top === null ? parent === null || !known.has(parent) : id === top;
  const ordered: PlacedSession[] = [];
  // A stack instead of recursion: the depth has no limit. A cycle has no top, so each session comes once.
  const waiting = sessions
    .filter(isTop)
    .reverse()
    .map((session) => ({ session, depth: 0 }));
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    ordered.push(next);
    const { session, depth } = next;
    for (const child of (below.get(session.id) ?? []).toReversed())
      if (child.id !== top) waiting.push({ session: child, depth: depth + 1 });
  }
  return ordered;
}

const DEPTH_SHOWN_MAX = 20;

export function treeLines(rows: readonly TreeRow[]): string[] {
  return rows.map(({ id, depth, status, agent, why, createdAt, updatedAt, orphan }) => {
    const indent =
      '  '.repeat(Math.min(depth, DEPTH_SHOWN_MAX)) + (depth > DEPTH_SHOWN_MAX ? `(${depth}) ` : '');
    const parts = [
      `${indent}${excerpt(id, 128)}`,
      status,
      ...(agent === null ? [] : [`agent ${excerpt(agent, 48)}`]),
      `created ${createdAt}`,
      `updated ${updatedAt}`,
      ...(why === null ? [] : [excerpt(why, 120)]),
      ...(orphan === null ? [] : [orphanText(orphan)]),
    ];
    return parts.join('  ');
  });
}

function orphanText({ reason, ancestor }: Pick<OrphanSession, 'reason' | 'ancestor'>): string {
  return `orphan: ${excerpt(ancestor, 48)} ${reason === 'parent_ended' ? 'has ended' : 'is missing'}`;
}
