import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { listAll, startModelClients } from './model-clients.ts';
import type { ModelClients } from './model-clients.ts';
import { PlantModel } from './plant-model.ts';
import type { Service } from './service.ts';

/** Clients that create and delete plants through services that share a database. */
export interface PlantLoad {
  readonly clients: ModelClients;
  readonly acknowledgeMore: (count: number) => Promise<void>;
  /** Stops the clients, and asserts that every service lists exactly the plants that the acknowledged writes left. */
  readonly assertNothingLost: () => Promise<void>;
}

/**
 * Starts 16 clients, which send requests as ada and bob. The services must accept these names as tokens. The clients
 * are stopped after the test.
 */
export function startPlantLoad(t: TestContext, services: readonly Service[]): PlantLoad {
  const urls = services.map(({ url }) => url);
  const users = ['ada', 'bob'];
  const model = new PlantModel();
  const tokens = new Map(users.map((user) => [user, user]));
  const clients = startModelClients(model, { urls, tokens, clients: 16 });
  t.after(() => clients.stop());
  return {
    clients,
    acknowledgeMore: (count) => clients.acknowledgeMore(count, 20_000),
    assertNothingLost: async () => {
      await clients.stop();
      t.diagnostic(`responses by status: ${JSON.stringify(Object.fromEntries(clients.statuses))}`);
      assert.deepEqual(clients.problems, []);
      assert.equal(clients.statuses.get(0), undefined, 'Every request got a response.');
      for (const url of urls) {
        for (const user of users) {
          assert.deepEqual(model.check(user, await listAll(url, user)), { lost: [], resurrected: [], phantom: [] });
        }
      }
    },
  };
}
