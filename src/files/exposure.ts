import { lstatSync, readlinkSync, statSync } from 'node:fs';
import { dirname, isAbsolute } from 'node:path';

const writableByOthers = 0o022;
const sticky = 0o1000;

/**
 * Returns the first folder or link on the way to a file that an account other than root owns or can write, or the file
 * itself; `undefined` if only root can change what the path names. An access control list shows in the group's bits.
 *
 * A sticky folder, such as /tmp, is safe above a folder or link of root, because no other account can replace it. It is
 * not safe for the file itself, because other accounts can create files next to it, such as a journal.
 */
export function findExposure(path: string, isFolder = false): string | undefined {
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
  // Throws an error if the link points to itself.
  statSync(path, { throwIfNoEntry: false });
  const target = readlinkSync(path);
  // The path is not normalized: after a link, `..` is the parent of the folder that the link points to.
  return findExposure(isAbsolute(target) ? target : `${folder}/${target}`, isFolder);
}
