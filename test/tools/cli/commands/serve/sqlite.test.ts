import assert from 'node:assert/strict';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { eventually } from '../../../../support/eventually.ts';
import { adminUrlOf, startTokenServer } from '../../../../support/token-server.ts';

describe('plant-store serve, if its database file was removed', () => {
  it('is not ready, responds to writes with 503, still lists plants, and logs what to do', async (t) => {
    const { cwd, server, create, call, log } = await startTokenServer(t, ['--admin-port', '0']);
    const ready = `${await adminUrlOf(server)}/ready`;
    assert.equal((await create(1)).status, 200);
    for (const ending of ['', '-wal', '-shm']) await rm(join(cwd, `plants.db${ending}`));
    // The result of the check on startup is reused for a second.
    await eventually(async () => {
      assert.equal((await fetch(ready)).status, 503);
    });
    const failed = await create(2);
    assert.deepEqual([failed.status, failed.error], [503, 50300]);
    assert.match((await call('GET', '/plants')).text, /^\[\{"name":"plant 1"\}/);
    assert.equal(await server.stop(), 0);
    assert.ok(
      log().some(({ message }) => String(message).includes('was removed or replaced')),
      server.stderr(),
    );
    assert.deepEqual((await readdir(cwd)).sort(), ['tokens.json', 'tokens.json.lock']);
  });
});
