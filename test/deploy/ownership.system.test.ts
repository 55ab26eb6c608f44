import assert from 'node:assert/strict';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { callService } from '../support/call.ts';
import { InstalledService } from './installed-service.ts';

/** Returns the owner, the group and the permissions of each file in a folder. */
async function ownersOf(folder: string): Promise<Record<string, string>> {
  const owners: Record<string, string> = {};
  for (const name of (await readdir(folder)).sort()) {
    const { uid, gid, mode } = await stat(join(folder, name));
    owners[name] = `${uid}:${gid} ${(mode & 0o777).toString(8)}`;
  }
  return owners;
}

describe('commands of root for a server of another user', () => {
  const skip = process.getuid?.() === 0 ? false : 'not run: only root can be one of two users';
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    it(`leave its files usable after ${signal}`, { skip }, async (t) => {
      const service = await InstalledService.install(t);
      const first = await service.start(t);
      const token = await service.firstToken();
      await callService(first.url, 'POST', '/plants', { token, body: '{"id":1,"name":"Fern"}' });
      await first.stop(signal);

      const created = await service.run('plant-store', ['token', 'create', 'ada']);
      const backup = join(service.state, '../backup.db');
      const commands = [
        ['export', '--storage', `sqlite:${service.state}/plants.db`],
        ['backup', backup],
      ];
      for (const args of commands) {
        const { code, stderr } = await service.run('plant-store', args);
        assert.equal(code, 0, stderr);
      }
      // The copies of root belong to root.
      assert.equal((await stat(backup)).uid, 0);
      const own = '65534:65534 600';
      const owners = await ownersOf(service.state);
      assert.deepEqual(
        Object.values(owners),
        Object.keys(owners).map(() => own),
        JSON.stringify(owners),
      );

      const second = await service.start(t);
      const adas = /pst_\w+/.exec(created.stdout + created.stderr)?.[0] ?? '';
      const body = '{"id":2,"name":"Moss"}';
      assert.equal((await callService(second.url, 'POST', '/plants', { token: adas, body })).status, 200);
      assert.deepEqual((await callService(second.url, 'GET', '/plants', { token })).json, [{ name: 'Fern' }]);

      // A backup while the server runs.
      const later = join(service.state, '../later.db');
      assert.equal((await service.run('plant-store', ['backup', later])).code, 0);
      assert.equal((await callService(second.url, 'DELETE', '/plants/2', { token: adas })).status, 204);
      assert.equal(await second.stop(), 0);
    });
  }
});
