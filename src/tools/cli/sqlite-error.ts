import { unsupported } from '../../storage/sqlite/file.ts';
import { hasResultCode } from '../../storage/sqlite/result-code.ts';
import type { StorageAdapter } from '../../storage/storage-adapter.ts';

/**
 * Returns an error that names the file and says what to do, because the messages of SQLite do neither. Returns an error
 * that is not from SQLite unchanged.
 */
export function withFileName(file: string, action: 'opened' | 'read' | 'written', error: unknown): unknown {
  if (hasResultCode(error, 'cannotOpen')) {
    return new Error(`${file} cannot be opened: it and its folder must be readable and writable.`, { cause: error });
  }
  if (hasResultCode(error, 'ioError') || hasResultCode(error, 'full')) {
    const problem = 'the disk is full or failing. Free space, and try again.';
    return new Error(`${file} cannot be ${action}: ${problem}`, { cause: error });
  }
  const isDamaged = hasResultCode(error, 'corrupt') || hasResultCode(error, 'notADatabase');
  return isDamaged ? unsupported(file, 'is damaged', error) : error;
}

/** Returns a storage adapter that does the same, except that its errors name the file. */
export function namingFile(file: string, storage: StorageAdapter): StorageAdapter {
  const failed = (action: 'read' | 'written') => (error: unknown) => {
    throw withFileName(file, action, error);
  };
  return {
    commit: (writes) => storage.commit(writes).catch(failed('written')),
    list: (user, range) => storage.list(user, range).catch(failed('read')),
    scan: (range) => storage.scan(range).catch(failed('read')),
    close: () => storage.close(),
  };
}
