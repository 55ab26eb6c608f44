import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { createAll, hostilePlants } from '../../support/stored-plants.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

describe('the columns of an SQLite file', () => {
  it('contain plain text', async (t) => {
    const path = join(await temporaryFolder(t), 'plants.db');
    await createAll(path, hostilePlants);
    using database = new DatabaseSync(path, { readOnly: true });
    const rows = database.prepare('SELECT user, name, tag FROM plants ORDER BY user, id').all();
    assert.deepEqual(
      rows.map((row) => ({ ...row })),
      hostilePlants.map(({ user, plant: { name, tag = null } }) => ({ user, name, tag })),
    );
  });
});
