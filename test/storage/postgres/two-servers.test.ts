import { after, before, describe } from 'node:test';
import { PostgresCluster } from '../../support/postgres.ts';
import { postgresLocation, testTwoServers } from '../../support/two-servers.ts';

let cluster: PostgresCluster;
before(async () => {
  cluster = await PostgresCluster.start();
});
after(() => cluster.remove());

describe('two servers over one PostgreSQL database', () => {
  testTwoServers(postgresLocation(() => cluster.makeDatabase()));
});
