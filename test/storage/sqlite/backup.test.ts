import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { backUpDatabase } from '../../../src/storage/sqlite/backup.ts';
import { createAll, owned, readAll } from '../../support/stored-plants.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** So many plants that a backup takes several steps. */
const plants = Array.from({ length: 2000 }, (_, n) => owned('ada', { id: BigInt(n), name: 'x'.repeat(2000) }));

describe('backUpDatabase', () => {
  it('copies what was there when it began, whatever is written between its steps', async (t) => {
    const folder = await temporaryFolder(t);
    const [file, target] = [join(folder, 'plants.db'), join(folder, 'copy.db')];
    await createAll(file, plants);
    const other = new DatabaseSync(file);
    t.after(() => {
      other.close();
    });
    const insert = other.prepare("INSERT INTO plants VALUES ('bob', ?, 'later', NULL)");
    let steps = 0;
    await backUpDatabase(file, target, () => {
      // A backup that begins anew after each of them is to come to its end, too.
      if (++steps <= 20) insert.run(steps);
    });
    assert.ok(steps > 2, `${steps} steps`);
    assert.deepEqual(await readAll(target), plants);
  });

  it('leaves what comes to its target meanwhile, and no part of its own', async (t) => {
    const folder = await temporaryFolder(t);
    const [file, target] = [join(folder, 'plants.db'), join(folder, 'copy.db')];
    await createAll(file, plants);
    const backup = backUpDatabase(file, target, () => {
      writeFileSync(target, 'Dear Ada');
    });
    await assert.rejects(backup, {
      message: `${target} already exists: a backup never overwrites a file.`,
    });
    assert.equal(await readFile(target, 'utf8'), 'Dear Ada');
    assert.deepEqual(await readdir(folder), ['copy.db', 'plants.db']);
  });
});
