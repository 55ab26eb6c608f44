import { MemoryStorage } from '../storage/memory.ts';
import { SqliteStorage } from '../storage/sqlite.ts';
import type { StorageAdapter } from '../storage/storage-adapter.ts';
import { UsageError } from './command.ts';
import type { Setting } from './command.ts';

/**
 * Opens the storage that `--storage` names: `memory` or `sqlite:FILE`.
 *
 * @throws {UsageError} where it names none.
 */
export function openStorage({ text: name, source }: Setting): StorageAdapter {
  if (name === 'memory') return new MemoryStorage();
  const file = /^sqlite:(.+)$/s.exec(name)?.[1];
  if (file === undefined || file === ':memory:') {
    throw new UsageError(`${source} must be 'memory' or 'sqlite:FILE', not '${name}'.`);
  }
  return new SqliteStorage(file);
}
