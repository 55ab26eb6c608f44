import assert from 'node:assert/strict';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../../../support/eventually.ts';
import { adminUrlOf, startTokenServer } from '../../../../support/token-server.ts';

describe('plant-store serve, if its database file was removed', { concurrency: 4 }, () => {
  for (const hasWrites of [true, false]) {
    const title = hasWrites ? 'responds to writes with 503, lists plants,' : 'even while no client writes,';
    it(`${title} is not ready, and says once what to do`, async (t) => {
      const args = ['--storage', 'sqlite:plants.db', '--admin-port', '0', '--log', 'json'];
      const { cwd, server, create, call } = await startTokenServer(t, args);
      const ready = `${await adminUrlOf(server)}/ready`;
      assert.equal((await create(1)).status, 200);
      for (const ending of ['', '-wal', '-shm']) await rm(join(cwd, `plants.db${ending}`));
      if (hasWrites) {
        const failed = await create(2);
        assert.deepEqual([failed.status, failed.error], [503, 50300]);
        assert.match((await call('GET', '/plants')).text, /^\[\{"name":"plant 1"\}/);
      }
      // The result of the check at the start is reused for a second.
      await eventually(async () => {
        assert.equal((await fetch(ready)).status, 503);
      });
      // Repetitions within a second are not logged.
      await sleep(1100);
      assert.equal((await fetch(ready)).status, 503);
      if (hasWrites) assert.equal((await create(3)).status, 503);
      assert.equal(await server.stop(), 0);
      const sentence =
        `The database file ${join(cwd, 'plants.db')} was removed or replaced while it was open. Its plants can be ` +
        'read until this process stops: save them, then restore the file from a backup and restart.';
      assert.equal(
        server
          .stderr()
          .split('\n')
          .filter((line) => line.includes(sentence)).length,
        1,
        server.stderr(),
      );
      assert.deepEqual((await readdir(cwd)).sort(), ['tokens.json', 'tokens.json.lock']);
    });
  }
});
