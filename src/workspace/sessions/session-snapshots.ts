/** The workspace at the borders of a session: at its start, at each resume, and at each end. */
import { openJsonDocument } from '../../storage/json-document.js';
import type { Name, StorageBackend } from '../../storage/ports.js';
import type { Workspace } from '../workspace.js';
import { checkSnapshot, type WorkspaceSnapshot } from './session.js';

/** A border of a session: its start, the n-th resume, or an end after n resumes. */
export interface SessionBorder {
  readonly border: 'start' | 'resume' | 'end';
  /** How often the session had been resumed, this resume included. */
  readonly resumed: number;
}

/** The entries of the workspace at a border of a session, without their values. */
export interface SessionSnapshot extends SessionBorder {
  readonly snapshot: WorkspaceSnapshot;
}

export class SessionSnapshots {
  readonly #backend: StorageBackend;
  readonly #folder: Name;

  /** @param folder of the sessions */
  constructor(backend: StorageBackend, folder: Name) {
    this.#backend = backend;
    this.#folder = folder;
  }

  /** A later save of the same border replaces the snapshot: it was repeated after a crash, or the session ended twice. */
  async save(
    id: string,
    border: SessionBorder,
    workspace: Workspace | undefined,
    takenAt: string,
  ): Promise<void> {
    const entries = workspace ? await workspace.list() : [];
    const document = await this.#open(id, border);
    document.data = {
      schema_version: 1,
      taken_at: takenAt,
      entries: entries.map(({ key, version, writtenBy, at, sizeBytes }) => ({
        key,
        version,
        written_by: writtenBy,
        timestamp: at,
        size_bytes: sizeBytes,
      })),
    };
    await document.write();
  }

  /** Empty, with `taken_at` empty, if there is none. */
  async read(id: string, border: SessionBorder): Promise<WorkspaceSnapshot> {
    return (await this.#open(id, border)).data;
  }

  /** Those that were saved, in the order of the borders. @param resumed how often the session was resumed */
  async all(id: string, resumed: number): Promise<SessionSnapshot[]> {
    const found: SessionSnapshot[] = [];
    for (let times = 0; times <= resumed; times += 1)
      for (const border of [times === 0 ? 'start' : 'resume', 'end'] as const) {
        const snapshot = await this.read(id, { border, resumed: times });
        if (snapshot.taken_at !== '') found.push({ border, resumed: times, snapshot });
      }
    return found;
  }

  #open(id: string, { border, resumed }: SessionBorder) {
    const file = border === 'start' ? 'workspace_snapshot' : `workspace_snapshot_${border}_${resumed}`;
    const initial: WorkspaceSnapshot = { schema_version: 1, taken_at: '', entries: [] };
    const name = [...this.#folder, id, `${file}.json`];
    return openJsonDocument(this.#backend.documents, { name, check: checkSnapshot(), initial });
  }
}
