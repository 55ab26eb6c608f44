import { accessSync, closeSync, constants, existsSync, fsyncSync, lstatSync, openSync } from 'node:fs';
import { readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, isAbsolute, resolve } from 'node:path';

/** Thrown if a path names something unusable, such as a folder in place of a file, so that a retry cannot help. */
export class WrongFileError extends Error {}

/** Returns whether anything has this name, even a link to a missing file. */
export function isTaken(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** @throws {Error} if the path is a link to a file that does not exist: the disk may not be mounted. */
export function hasFile(path: string): boolean {
  if (existsSync(path)) return true;
  requireAccess([path], 'read');
  // Another process may have created the file in the meantime.
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return existsSync(path);
  const advice = 'Mount the disk of that file, or remove the link';
  throw new WrongFileError(`${path} is a link to a file that does not exist. ${advice}.`);
}

/** Opening something else, such as a pipe, could block the process. */
export function isFileOrMissing(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? true;
}

/**
 * Returns why a file has a second path: another hard link, or a mount point; `undefined` if it has only one. If the
 * file at one path is replaced, the other path still leads to the old file. FUSE file systems can report 0 links, so
 * only a number above 1 counts.
 */
export function findOtherPlace(path: string): string | undefined {
  if (statSync(path).nlink > 1) return 'has another hard link: remove it';
  return isMountPoint(path) ? 'is mounted without its folder: mount the folder' : undefined;
}

/** Returns `false` if this is unknown. See proc_pid_mountinfo(5). */
function isMountPoint(path: string): boolean {
  const unescape = (_: string, octal: string): string => String.fromCharCode(parseInt(octal, 8));
  try {
    const lines = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
    const places = lines.map((line) => (line.split(' ')[4] ?? '').replace(/\\(\d{3})/g, unescape));
    return places.includes(realpathSync(path));
  } catch {
    return false;
  }
}

/**
 * Throws an error if this process may not read one of the files or folders, or may not write to it if the purpose is
 * `'write'`. Ignores missing files and folders. SQLite's own messages name neither the file nor the cause.
 */
export function requireAccess(paths: readonly string[], purpose: 'read' | 'write'): void {
  for (const path of paths) {
    const { code = 'ENOENT', message } = tryAccess(path, purpose) ?? {};
    if (code === 'ENOENT') continue;
    const ErrorClass = ['ELOOP', 'ENOTDIR', 'ENAMETOOLONG'].includes(code) ? WrongFileError : Error;
    if (code !== 'EACCES') throw new ErrorClass(`${path} cannot be used: ${message}.`);
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

/** A missing folder is not created, because it can mean a mistyped path or a disk that is not mounted. */
export function requireFolderOf(path: string, use: string): void {
  const folder = dirname(resolve(path));
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return;
  throw new WrongFileError(`There is no folder ${folder} for the ${use}. Create the folder, or choose another file.`);
}

/** Makes the entries of a folder durable, if the file system supports this. */
export function syncFolder(path: string): void {
  // On Windows, folders cannot be opened for fsync, but the file system itself makes directory entries durable.
  if (process.platform === 'win32') return;
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } catch (error) {
    // CIFS and shared folders of virtual machines do not support fsync for folders.
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!['EINVAL', 'ENOTSUP', 'ENOSYS', 'EBADF'].includes(code)) throw error;
  } finally {
    closeSync(folder);
  }
}

const writableByOthers = 0o022;
const sticky = 0o1000;

/**
 * Returns the first folder, link or file on a path that an account other than root owns or can write to; `undefined` if
 * there is none. The group's permission bits include the permissions of an access control list.
 *
 * A sticky folder, such as /tmp, can contain a folder or link of root safely, because no other account can replace that
 * folder or link. It cannot contain the file itself: other accounts could create files next to it, such as a journal.
 */
export function findExposure(path: string, isFolder = false): string | undefined {
  // Throws an error for a link to itself. Otherwise, the recursion would not end.
  requireAccess([path], 'read');
  const entry = lstatSync(path, { throwIfNoEntry: false });
  const folder = dirname(path);
  if (folder !== path) {
    const above = findExposure(folder, true);
    if (above !== undefined) return above;
    const mode = statSync(folder, { throwIfNoEntry: false })?.mode ?? 0;
    const isProtected = isFolder && entry !== undefined && (mode & sticky) !== 0;
    if ((mode & writableByOthers) !== 0 && !isProtected) return folder;
  }
  if (entry === undefined) return undefined;
  if (entry.uid !== 0) return path;
  if (!entry.isSymbolicLink()) return !isFolder && (entry.mode & writableByOthers) !== 0 ? path : undefined;
  const target = readlinkSync(path);
  // The path is not normalized: after a link, `..` is the parent of the folder that the link points to.
  return findExposure(isAbsolute(target) ? target : `${folder}/${target}`, isFolder);
}
