import { dirname, join } from 'node:path';
import { isTaken, requireFolderOf } from '../../files/file.ts';
import { backUpDatabase } from '../../storage/sqlite/backup.ts';
import { openToRead } from '../../storage/sqlite/database.ts';
import { databaseFiles } from '../../storage/sqlite/file.ts';
import type { Settings } from '../command-line.ts';
import { addPlace } from '../errors.ts';
import { exitCodeOf, runInterruptibly, shellQuoted, tell } from '../process.ts';
import { requireSafePath } from '../refuse-root.ts';
import { parseStorage } from '../storage.ts';

export async function backUp({ storage }: Settings<'backup'>, target: string): Promise<number> {
  return copy(parseStorage(storage, ['sqlite']).place, requireSafePath(target), () => undefined);
}

export async function restore({ storage }: Settings<'restore'>, backup: string): Promise<number> {
  return copy(requireSafePath(backup), parseStorage(storage, ['sqlite']).place, refuseToOverwrite);
}

async function copy(file: string, target: string, checkTarget: (target: string) => void): Promise<number> {
  return runInterruptibly(async (signal) => {
    try {
      openToRead(file).close();
      requireFolderOf(target, 'new file');
      checkTarget(target);
      await backUpDatabase(file, target, signal.throwIfAborted.bind(signal));
    } catch (error) {
      if (error !== signal.reason) throw addPlace(`${file} or ${target}`, error);
      tell('plant-store: Interrupted: nothing was changed.');
      return exitCodeOf(signal.reason as string);
    }
    tell(`Copied ${file} to ${target}.`);
    return 0;
  });
}

function refuseToOverwrite(file: string): void {
  const existing = databaseFiles(file).filter(isTaken);
  if (existing.length === 0) return;
  const now = new Date().toISOString().slice(0, 19).replaceAll(':', '-');
  const folder = shellQuoted(join(dirname(file), `before-restore-${now}`));
  const move = `mkdir ${folder} && mv ${existing.map(shellQuoted).join(' ')} ${folder}`;
  throw new Error(`restore never overwrites a file. Stop the server, move the existing files, and try again:\n${move}`);
}
