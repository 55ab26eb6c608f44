import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PostgresStorage } from '../../../src/storage/postgres/postgres-storage.ts';
import { eventually } from '../../support/eventually.ts';
import { startPlantLoad } from '../../support/plant-load.ts';
import { PostgresCluster, poolOf } from '../../support/postgres.ts';
import { startService } from '../../support/service.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';

describe('service over PostgreSQL with a synchronous standby', () => {
  it('loses no acknowledged write when the primary is killed and the standby is promoted', async (t) => {
    const primary = await PostgresCluster.start();
    t.after(() => primary.remove());
    const standby = await primary.startSynchronousStandby();
    t.after(() => standby.remove());
    const proxy = await startTcpProxy(t, primary.port);
    const connectionString = `postgres://postgres@127.0.0.1:${proxy.port}/postgres`;
    const services = await Promise.all(
      [1, 2].map(() =>
        startService(t, { storage: new PostgresStorage({ pool: poolOf(t, { connectionString, max: 4 }) }) }),
      ),
    );

    const load = startPlantLoad(t, services);
    await load.acknowledgeMore(500);
    await primary.kill();
    await eventually(() => {
      assert.ok((load.clients.statuses.get(503) ?? 0) > 0, 'No request failed while the database was away.');
    });
    await standby.promote();
    proxy.pointTo(standby.port);
    await load.acknowledgeMore(500);
    await load.assertNothingLost();
  });
});
