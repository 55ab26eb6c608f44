import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { describe, it } from 'node:test';
import { createAdminServer } from '../../../../src/tools/cli/admin/admin.ts';
import { StorageProbe } from '../../../../src/tools/cli/admin/storage-probe.ts';
import { Log } from '../../../../src/tools/cli/output/log.ts';
import { MemoryStorage, PlantStore } from '../../../../src/index.ts';
import { eventually } from '../../../support/eventually.ts';
import { listen } from '../../../support/listen.ts';
import { RawConnection } from '../../../support/raw-http.ts';

describe('createAdminServer', () => {
  it('responds while eight other clients do not complete their requests', async (t) => {
    const storage = new MemoryStorage();
    const probe = new StorageProbe(storage, new Log('off'));
    const port = await listen(t, createAdminServer(createServer(), new PlantStore({ storage }), probe));
    const stalled = await Promise.all(Array.from({ length: 8 }, () => RawConnection.open(t, port)));
    for (const connection of stalled) connection.send('GET /li');
    // Before the stalled requests time out after five seconds.
    await eventually(async () => {
      const response = await fetch(`http://127.0.0.1:${port}/live`);
      assert.deepEqual([response.status, await response.text()], [200, 'ok\n']);
    }, 3000);
    assert.ok(stalled.filter(({ socket }) => !socket.destroyed).length >= 6);
  });
});
