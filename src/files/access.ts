import { accessSync, constants } from 'node:fs';
import { userInfo } from 'node:os';

/**
 * Throws an error if this process may not read one of the files or folders, or may not write to it if the purpose is
 * `'write'`. Ignores missing files and folders. SQLite's own messages name neither the file nor the cause.
 */
export function requireAccess(paths: readonly string[], purpose: 'read' | 'write'): void {
  for (const path of paths) {
    const { code = 'ENOENT', message } = tryAccess(path, purpose) ?? {};
    if (code === 'ENOENT') continue;
    if (code !== 'EACCES') throw new Error(`${path} cannot be used: ${message}.`);
    const remedy = 'change its owner with chown, or its mode with chmod';
    throw new Error(`The user ${userName()} may not ${purpose} ${path}: ${remedy}.`);
  }
}

function tryAccess(path: string, purpose: 'read' | 'write'): NodeJS.ErrnoException | undefined {
  try {
    accessSync(path, purpose === 'read' ? constants.R_OK : constants.R_OK | constants.W_OK);
    return undefined;
  } catch (error) {
    return error as NodeJS.ErrnoException;
  }
}

/** In a container, the user often has no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.());
  }
}
