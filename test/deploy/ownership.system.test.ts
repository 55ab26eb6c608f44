import assert from 'node:assert/strict';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { callService } from '../support/call.ts';
import { create, installService } from './installed-service.ts';

describe('commands that root runs for a server of another user', () => {
  const skip = process.getuid?.() === 0 ? false : 'not run: only root can be one of two users';
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    it(`leave the files of the server usable after it was stopped with ${signal}`, { skip }, async (t) => {
      const service = await installService(t);
      const first = await service.start();
      const token = await service.firstToken();
      await create(first, token, { id: 1, name: 'Fern' });
      await first.stop(signal);

      const created = await service.run('plant-store', ['token', 'create', 'ada']);
      const backup = join(service.backups, 'backup.db');
      assert.equal((await service.run('plant-store', ['export'])).code, 0);
      assert.equal((await service.run('plant-store', ['backup', backup])).code, 0);
      assert.equal((await stat(backup)).uid, 65_534);
      for (const name of await readdir(service.state)) {
        const { uid, gid, mode } = await stat(join(service.state, name));
        assert.deepEqual([uid, gid, mode & 0o777], [65_534, 65_534, 0o600], name);
      }

      const second = await service.start();
      const adas = /pst_\w+/.exec(created.stdout + created.stderr)?.[0] ?? '';
      assert.equal((await create(second, adas, { id: 2, name: 'Moss' })).status, 200);
      assert.deepEqual((await callService(second.url, 'GET', '/plants', { token })).json, [{ name: 'Fern' }]);

      // This backup is made while the server runs.
      const later = join(service.backups, 'later.db');
      assert.equal((await service.run('plant-store', ['backup', later])).code, 0);
      assert.equal((await callService(second.url, 'DELETE', '/plants/2', { token: adas })).status, 204);
      assert.equal(await second.stop(), 0);
    });
  }
});
