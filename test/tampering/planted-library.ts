/**
 * A copy of the library with a bug in it, beside a copy of this harness. The layers of the encryption cover for each other, so a bug in an
 * inner one shows only where the outer ones are taken away, too: then only contents are promised.
 */
import { execFile } from 'node:child_process';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url));

/** A text of a file, which is there once, and what stands in its place. */
export interface Patch {
  readonly file: string;
  readonly text: string;
  readonly by: string;
}

const CHECKPOINTS = 'src/checkpoints';

export const NO_MAC_CHECK: Patch = {
  file: `${CHECKPOINTS}/session/session-log.ts`,
  text: 'if (this.#isForged(seq, content, mac)) {',
  by: 'if (this.#isForged(seq, content, mac) && seq < 0) {',
};
export const SEQUENCE_NOT_IN_MAC: Patch = {
  file: `${CHECKPOINTS}/encryption/session-keys.ts`,
  text: 'canonicalJson([session, seq, record])',
  by: 'canonicalJson([session, seq && 0, record])',
};
export const NUMBER_NOT_BOUND: Patch = {
  file: `${CHECKPOINTS}/session/pack-store.ts`,
  text: 'this.#options.session, number, about]',
  by: 'this.#options.session, number && 0, about]',
};
export const TAG_NOT_CHECKED: Patch = {
  file: 'src/storage/sealing/aes-seal.ts',
  text: 'return Buffer.concat([plain, decipher.final()]);',
  by: 'return plain;',
};
export const CONTENT_NOT_CHECKED: Patch = {
  file: `${CHECKPOINTS}/session/content-reader.ts`,
  text: 'contentDigest(this.#session, record.number, content).equals(digest)',
  by: 'digest.length > 0',
};
export const CONTENT_OF_ANY_NUMBER: Patch = {
  file: `${CHECKPOINTS}/content/pack.ts`,
  text: 'canonicalJson([session, number])',
  by: 'canonicalJson([session, number && 0])',
};
export const CONTENT_OF_ANY_SESSION: Patch = {
  file: `${CHECKPOINTS}/content/pack.ts`,
  text: 'canonicalJson([session, number])',
  by: "canonicalJson([session && '', number])",
};
export const NUMBER_OF_ANY_PLACE: Patch = {
  file: `${CHECKPOINTS}/session/session-state.ts`,
  text: 'record.number !== seq)',
  by: 'record.number < 0 * seq)',
};
export const UNKNOWN_KEY_COUNTS: Patch = {
  file: `${CHECKPOINTS}/session/session-log.ts`,
  text: 'if (!key && this.#strange.has(keyId)) return true;',
  by: '',
};
export const PLAIN_AFTER_SEALED: Patch = {
  file: `${CHECKPOINTS}/session/session-log.ts`,
  text: 'return this.#isEncrypted || hasSealedPack(content) || seq >= keys.sealedFrom;',
  by: 'return this.#isEncrypted || hasSealedPack(content);',
};
export const BEGINNING_NOT_BOUND: Patch = {
  file: `${CHECKPOINTS}/encryption/session-keys.ts`,
  text: "canonicalJson(['rekindle data key', 1, this.#session, id, from, master])",
  by: "canonicalJson(['rekindle data key', 1, this.#session, id, from && 0, master])",
};
export const GAPS_NOT_TOLD: Patch = {
  file: `${CHECKPOINTS}/maintenance/verify.ts`,
  text: 'of session.log.gaps)',
  by: 'of session.log.gaps.slice(0, 0))',
};
export const HEADS_OF_LAST_RECORD: Patch = {
  file: `${CHECKPOINTS}/session/session-log.ts`,
  text: "digest = hash('sha256', ",
  by: "digest = '';\n      digest = hash('sha256', ",
};

export const BASE_NOT_CHECKED: Patch = {
  file: `${CHECKPOINTS}/session/content-planner.ts`,
  text: 'if (bad.size === 0) return plan;',
  by: 'if (bad.size >= 0) return plan;',
};
export const RECORDS_NOT_CHECKED: Patch = {
  file: `${CHECKPOINTS}/session/session-log.ts`,
  text: 'if (isDamaged ? this.#records !== records : this.#records > records) await this.#journal.reload();',
  by: 'void isDamaged;',
};

export interface PlantedRun {
  readonly exitCode: number;
  readonly output: string;
}

/** @throws RangeError when the library has changed, so that a patch does not fit any more */
export async function runPlanted(patches: readonly Patch[], options: readonly string[]): Promise<PlantedRun> {
  if (patches.length === 0) return run(REPOSITORY, options); // nothing to change: its files are compiled already
  const root = await fs.mkdtemp(path.join(os.tmpdir(), 'rekindle-planted-'));
  try {
    for (const folder of ['src', 'test/tampering'])
      await fs.cp(path.join(REPOSITORY, folder), path.join(root, folder), { recursive: true });
    await fs.copyFile(path.join(REPOSITORY, 'package.json'), path.join(root, 'package.json'));
    await fs.symlink(path.join(REPOSITORY, 'node_modules'), path.join(root, 'node_modules'));
    for (const patch of patches) await apply(root, patch);
    return await run(root, options);
  } finally {
    await fs.rm(root, { recursive: true, force: true });
  }
}

async function apply(root: string, { file, text, by }: Patch): Promise<void> {
  const target = path.join(root, file);
  const before = await fs.readFile(target, 'utf8');
  if (before.split(text).length !== 2) throw new RangeError(`${file} has no such place once: ${text}`);
  await fs.writeFile(
    target,
    before.replace(text, () => by),
  );
}

function run(root: string, options: readonly string[]): Promise<PlantedRun> {
  const program = path.join(root, 'test/tampering/run.ts');
  const args = ['--import', 'tsx', program, '--jobs', '0', ...options];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { cwd: root }, (error, stdout, stderr) => {
      if (error && typeof error.code !== 'number') return reject(error);
      resolve({ exitCode: Number(error?.code ?? 0), output: `${stdout}${stderr}` });
    });
  });
}
