import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { runCommand } from '../../support/command-line.ts';
import { PostgresCluster } from '../../support/postgres.ts';
import { execute } from '../../support/sqlite-file.ts';
import { createAll, rowOfPlants } from '../../support/stored-plants.ts';
import { mountSmallFolder } from '../../support/system-fault.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

let cluster: PostgresCluster;
before(async () => {
  cluster = await PostgresCluster.start();
});
after(() => cluster.remove());

/** Returns the names of the schemas and tables in a database, without those of PostgreSQL itself. */
async function namesIn(url: string): Promise<unknown[]> {
  const rows = await cluster.queryAt(
    url,
    `SELECT nspname AS name FROM pg_namespace WHERE nspname !~ '^pg_|^information_schema$'
     UNION ALL SELECT tablename FROM pg_tables WHERE schemaname !~ '^pg_|^information_schema$'`,
  );
  return rows.map(({ name }) => name);
}

describe('source of a transfer', { concurrency: 4 }, () => {
  const missing: [parameters: string, stderr: string][] = [
    [
      '?table=foo',
      'The storage has no table for plants. (There is no table "foo".) ' +
        'Check the database, the schema and the table in the connection string.',
    ],
    [
      '?schema=public&table=foo',
      'The storage has no table for plants. (There is no table "public"."foo".) ' +
        'Check the database, the schema and the table in the connection string.',
    ],
    [
      '?schema=garden',
      'The storage has no table for plants. (There is no schema "garden".) ' +
        'Create the schema, or check its name in the connection string.',
    ],
  ];
  for (const [parameters, sentence] of missing) {
    it(`is not created by export or copy if ${parameters} names nothing`, async (t) => {
      const cwd = await temporaryFolder(t);
      const url = await cluster.makeDatabase();
      for (const args of [
        ['export', '--storage', url + parameters],
        ['copy', '--from', url + parameters, '--to', 'sqlite:new.db'],
      ]) {
        const finished = await runCommand(args, { cwd });
        assert.deepEqual(finished, { code: 1, stdout: '', stderr: `plant-store: ${sentence}\n` });
      }
      assert.deepEqual(await namesIn(url), ['public']);
      assert.deepEqual(await readdir(cwd), []);
    });
  }

  it('stays as it is if it is an SQLite file without a plant store', async (t) => {
    const cwd = await temporaryFolder(t);
    await writeFile(join(cwd, 'empty.db'), '');
    execute(join(cwd, 'no-tables.db'), 'VACUUM');
    for (const name of ['empty.db', 'no-tables.db']) {
      const before = await readFile(join(cwd, name));
      for (const args of [
        ['export', '--storage', `sqlite:${name}`],
        ['copy', '--from', `sqlite:${name}`, '--to', 'sqlite:new.db'],
      ]) {
        const { code, stdout, stderr } = await runCommand(args, { cwd });
        const reason = 'is empty. It was left as it is. Choose another storage, or restore a backup.';
        assert.deepEqual([code, stdout, stderr], [1, '', `plant-store: ${join(cwd, name)} ${reason}\n`]);
      }
      assert.deepEqual(await readFile(join(cwd, name)), before);
    }
    assert.deepEqual(await readdir(cwd), ['empty.db', 'no-tables.db']);
  });
});

describe('target of a transfer', { concurrency: 4 }, () => {
  it('is created if its table is missing', async (t) => {
    const cwd = await temporaryFolder(t);
    const url = await cluster.makeDatabase();
    await writeFile(join(cwd, 'plants.ndjson'), '{"user":"ada","id":1,"name":"Fern"}\n');
    const args = ['import', '--storage', `${url}?schema=public&table=foo`];
    assert.equal((await runCommand(args, { cwd, stdin: 'plants.ndjson' })).code, 0);
    assert.deepEqual(await cluster.queryAt(url, 'SELECT name FROM public.foo'), [{ name: 'Fern' }]);
  });

  it('is not created if its schema is missing', async (t) => {
    const cwd = await temporaryFolder(t);
    const url = await cluster.makeDatabase();
    await createAll(join(cwd, 'a.db'), rowOfPlants('ada', 1));
    for (const args of [
      ['import', '--storage', `${url}?schema=garden`],
      ['copy', '--from', 'sqlite:a.db', '--to', `${url}?schema=garden`],
    ]) {
      const sentence =
        'The storage has no table for plants. (There is no schema "garden".) ' +
        'Create the schema, or check its name in the connection string.';
      const finished = await runCommand(args, { cwd });
      assert.deepEqual(finished, { code: 1, stdout: '', stderr: `plant-store: ${sentence}\n` });
    }
    assert.deepEqual(await namesIn(url), ['public']);
  });
});

describe('file of a transfer', { concurrency: 4 }, () => {
  it('is named if it is a damaged source', async (t) => {
    const cwd = await temporaryFolder(t);
    const file = join(cwd, 'plants.db');
    await createAll(file, rowOfPlants('ada', 20_000));
    // The schema and the first plants stay readable.
    const content = await readFile(file);
    await writeFile(file, content.fill(0xff, content.length / 2));
    const sentence =
      `${file} is damaged. It was left as it is. (database disk image is malformed) ` +
      'Choose another storage, or restore a backup.';
    for (const args of [['export'], ['copy', '--from', 'sqlite:plants.db', '--to', 'sqlite:new.db']]) {
      const { code, stderr } = await runCommand(args, { cwd });
      assert.deepEqual([code, stderr], [1, `plant-store: ${sentence}\n`]);
    }
    assert.deepEqual(await readFile(file), content);
  });

  for (const parameters of ['', '?commitThread=true']) {
    it(`is named if it is a target on a full disk, with the parameters "${parameters}"`, async (t) => {
      const folder = await mountSmallFolder(t, 1);
      if (folder === undefined) {
        t.skip('this process may not mount');
        return;
      }
      const cwd = await temporaryFolder(t);
      await createAll(join(cwd, 'plants.db'), rowOfPlants('ada', 50_000));
      const file = join(folder, 'new.db');
      const args = ['copy', '--from', 'sqlite:plants.db', '--to', `sqlite:${file}${parameters}`];
      const { code, stderr } = await runCommand(args, { cwd });
      const sentence = `${file} cannot be written: the disk is full or failing. Free space, and try again.`;
      assert.deepEqual([code, stderr], [1, `plant-store: ${sentence} (database or disk is full)\n`]);
    });
  }
});

describe('commands that only read', { concurrency: 4 }, () => {
  it('create nothing if what they read is missing', async (t) => {
    const cwd = await temporaryFolder(t);
    for (const args of [['backup', 'copy.db'], ['export'], ['token', 'list'], ['token', 'revoke', 'tk_0']]) {
      const { code, stdout, stderr } = await runCommand(args, { cwd });
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(stderr, /^plant-store: There is no (?:tokens )?file \/.+\. Check the path.*\.\n$/);
    }
    assert.ok(!existsSync(join(cwd, 'plants.db')));
    assert.deepEqual(await readdir(cwd), []);
  });
});
