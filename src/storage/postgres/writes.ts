import { idOf } from '../../core/storage-adapter.ts';
import type { Write } from '../../core/storage-adapter.ts';
import type { RunStatement } from './run-statement.ts';
import type { KeyRow } from './statements.ts';

export async function applyWrites(run: RunStatement, writes: readonly Write[]): Promise<boolean[]> {
  const [first] = writes;
  if (first === undefined) return [];
  if (writes.length > 1) return applyAll(run, writes);
  const { rowCount } = await (first.kind === 'create'
    ? run('insertOne', [first.user, String(first.plant.id), first.plant.name, first.plant.tag ?? null])
    : run('deleteOne', [first.user, String(first.id)]));
  return [rowCount === 1];
}

async function applyAll(run: RunStatement, writes: readonly Write[]): Promise<boolean[]> {
  // All servers lock rows in the same order, so that deadlocks between servers are rare.
  const sorted = writes.toSorted(byKey);
  const creates = sorted.filter((write) => write.kind === 'create');
  const deletes = sorted.filter((write) => write.kind === 'delete');
  // Ids are converted to strings, because not every driver can send a bigint.
  const inserted = [
    creates.map(({ user }) => user),
    creates.map(({ plant }) => String(plant.id)),
    creates.map(({ plant }) => plant.name),
    creates.map(({ plant }) => plant.tag ?? null),
  ];
  const deleted = [deletes.map(({ user }) => user), deletes.map(({ id }) => String(id))];
  let result;
  if (deletes.length === 0) result = await run('insert', inserted);
  else if (creates.length === 0) result = await run('delete', deleted);
  else result = await run('insertAndDelete', [...inserted, ...deleted]);
  const changed = new Set((result.rows as KeyRow[]).map(({ user, id }) => `${id} ${user}`));
  return writes.map((write) => changed.has(`${idOf(write)} ${write.user}`));
}

function byKey(a: Write, b: Write): number {
  if (a.user !== b.user) return a.user < b.user ? -1 : 1;
  return idOf(a) < idOf(b) ? -1 : 1;
}
