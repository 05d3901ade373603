/** `rekindle seal`: the keys of a sealed store. */
import type { Command } from 'commander';
import { RekindleError } from '../core/errors.js';
import type { StorageBackend } from '../storage/ports.js';
import { SealedStorage } from '../storage/sealing/sealed-storage.js';
import { type CommandContext, type CommonOptions, runCommand } from './command-context.js';
import { count } from './report-text.js';
import { addSubcommand } from './subcommand.js';

interface RotateOptions extends CommonOptions {
  readonly keepMaster?: boolean;
  readonly forgetOld?: boolean;
}

export function addSealCommand(program: Command): void {
  const parent = program.command('seal').description('the keys of a sealed store: status, rotate');
  addSubcommand<CommonOptions>(parent, 'status', 'which keys a sealed store has', [], (_, given) =>
    runCommand(given, async (context) => {
      await status(context);
      return undefined;
    }),
  );
  addSubcommand<RotateOptions>(
    parent,
    'rotate',
    'wrap all data keys with a new master key; data is not rewritten',
    [
      ['--keep-master', 'make no new master key: continue an interrupted rotation'],
      ['--forget-old', 'remove the old master keys afterwards; older backups cannot be read then'],
    ],
    (_, given) =>
      runCommand(given, async (context) => {
        await rotate(context, given);
        return undefined;
      }),
  );
}

async function status({ storage, print }: CommandContext): Promise<void> {
  const keys = await sealed(storage).dataKeys();
  const masters = [...new Set(keys.map(({ master }) => master))].sort();
  const lines = keys.map(({ scope, id, master }) => `${scope.join('/')}: key ${id}, master key ${master}`);
  const total = `${count(keys.length, 'data key')}, ${count(masters.length, 'master key')} in use.`;
  print([...lines, total], { keys: keys.map((key) => ({ ...key, scope: [...key.scope] })), masters });
}

async function rotate(
  { storage, print }: CommandContext,
  { keepMaster, forgetOld }: RotateOptions,
): Promise<void> {
  const { keys, rewrapped } = await sealed(storage).rotateKeys({
    renew: !keepMaster,
    forgetOld: forgetOld ?? false,
  });
  const text = `Wrapped ${rewrapped} of ${count(keys, 'data key')} with the current master key.`;
  print([text], { keys, rewrapped });
}

/** @throws INVALID_ARGUMENT */
function sealed(storage: StorageBackend): SealedStorage {
  if (storage instanceof SealedStorage) return storage;
  const text =
    'This command needs a sealed store: give --dir an address with seal=, and without redact= and tenant=.';
  throw new RekindleError('INVALID_ARGUMENT', text, { details: { argument: '--dir' } });
}
