import { lstatSync, readlinkSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import type { UserInfo } from 'node:os';
import { dirname, isAbsolute, resolve } from 'node:path';

/**
 * If root runs a command, and another account can replace one of the files, this process permanently becomes that
 * account. Otherwise, the account could make root change any file, with symbolic links or SQLite journals. Must be
 * called before any of the files is used.
 *
 * @throws {Error} if several accounts can replace the files.
 */
export function runAsOwner(...files: string[]): void {
  if (process.geteuid?.() !== 0) return;
  const owners = new Map<number, string>();
  for (const file of files) {
    const uid = ownerOf(resolve(file));
    if (uid !== 0) owners.set(uid, file);
  }
  const [first, second] = owners;
  if (first === undefined) return;
  const [uid, file] = first;
  if (second !== undefined) {
    const line = `runuser -u ${accountOf(uid).username} -- plant-store …`;
    const problem = `${file} and ${second[1]} belong to different accounts`;
    throw new Error(`${problem}. Run the command as one of these accounts, for example: ${line}`);
  }
  try {
    become(accountOf(uid));
  } catch (cause) {
    // The account may have no name. In a container, root may lack the permission to become another account.
    const problem = `${file} belongs to the account ${uid}, which this process cannot become`;
    throw new Error(`${problem}. Run the command as this account.`, { cause });
  }
}

/**
 * Returns the first owner, other than root, of a folder or symbolic link in the path, or of the file itself if its
 * folder is sticky and shared. Returns 0 if there is none.
 */
function ownerOf(path: string): number {
  const folder = dirname(path);
  if (folder === path) return 0;
  const owner = ownerOf(folder);
  const stats = owner === 0 ? statSync(folder, { throwIfNoEntry: false }) : undefined;
  if (stats === undefined) return owner;
  const { uid, gid, mode } = stats;
  if (uid !== 0) return uid;
  const entry = lstatSync(path, { throwIfNoEntry: false });
  const isShared = (mode & 0o002) !== 0 || ((mode & 0o020) !== 0 && gid !== 0);
  const isSticky = (mode & 0o1000) !== 0;
  const canMove = (isShared && isSticky) || entry?.isSymbolicLink() === true;
  if (canMove && entry !== undefined && entry.uid !== 0) return entry.uid;
  // In a sticky folder, other accounts cannot replace a folder or a link, but they can create files next to a file.
  const isSafe = !isShared || (isSticky && (entry?.isDirectory() === true || entry?.isSymbolicLink() === true));
  if (!isSafe) throw new Error(`Other accounts can write to ${folder}. As root, use a folder of a single account.`);
  if (entry?.isSymbolicLink() !== true) return 0;
  const target = readlinkSync(path);
  // The path is not normalized: after a link, `..` is the parent of the folder that the link points to.
  return ownerOf(isAbsolute(target) ? target : `${folder}/${target}`);
}

function accountOf(uid: number): UserInfo<string> {
  process.seteuid?.(uid);
  try {
    return userInfo();
  } finally {
    process.seteuid?.(0);
  }
}

function become({ uid, gid }: UserInfo<string>): void {
  process.setgroups?.([gid]);
  process.setgid?.(gid);
  process.setuid?.(uid);
}
