import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { PlantStore } from '../../src/index.ts';
import type { StorageAdapter, StoredPlant } from '../../src/index.ts';
import { createPlantServer } from '../../src/http.ts';
import { authenticate, collector, secret, stranger, users } from './callers.ts';
import { rule } from './finding.ts';
import { play } from './play.ts';

/** More plants than go on two pages. */
export const collection: readonly StoredPlant[] = Array.from({ length: 2100 }, (_, n) => ({
  id: BigInt(n) * 3n,
  name: `plant ${n} \u{1F33F}`,
  ...(n % 2 === 0 && { tag: '"' }),
}));
const hidden: readonly StoredPlant[] = [1n, 2n, 3n].map((id) => ({ id, name: `${secret} ${id}` }));

/** How long everything may take to come to rest. */
const patienceMs = 5000;

/** A real server over a storage of its own, used by case after case. */
export class Garden implements AsyncDisposable {
  readonly port: number;
  readonly store: PlantStore;
  readonly #server: ReturnType<typeof createPlantServer>;
  readonly #faults: unknown[];
  /** What would have ended the process. */
  readonly #onUncaught = (error: Error): void => {
    this.#faults.push(error);
  };

  private constructor(server: ReturnType<typeof createPlantServer>, store: PlantStore, faults: unknown[]) {
    this.port = (server.address() as AddressInfo).port;
    this.store = store;
    this.#server = server;
    this.#faults = faults;
  }

  static async open(storage: StorageAdapter): Promise<Garden> {
    const store = new PlantStore({ storage });
    const faults: unknown[] = [];
    const server = createPlantServer(store, { authenticate, onError: (error) => faults.push(error) });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    await Promise.all([
      ...collection.map((plant) => store.createPlant(collector, plant)),
      ...hidden.map((plant) => store.createPlant(stranger, plant)),
    ]);
    const garden = new Garden(server, store, faults);
    process.on('uncaughtException', garden.#onUncaught);
    return garden;
  }

  /** Begins a case: its users have these plants and no others. */
  async plant(plants: readonly (readonly [user: string, plant: StoredPlant])[]): Promise<void> {
    for (const user of users) {
      const old = await this.store.listPlants(user);
      await Promise.all(old.map(({ id }) => this.store.deletePlant(user, id)));
    }
    await Promise.all(plants.map(([user, plant]) => this.store.createPlant(user, plant)));
  }

  /** Waits until nothing is under way any more, and holds the server against what must be so then. */
  async rest(): Promise<void> {
    const deadline = performance.now() + patienceMs;
    while ((await this.#connections()) > 0) {
      rule(performance.now() < deadline, () => `a connection is there ${patienceMs} ms after its client went away`);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await this.#probe();
    rule(
      this.#faults.length === 0,
      () =>
        `faults: ${this.#faults.map((fault) => (fault instanceof Error ? (fault.stack ?? fault.message) : String(fault))).join('\n')}`,
    );
    const left = await this.store.listPlants(stranger);
    rule(
      left.length === hidden.length && left.every(({ name }) => name.startsWith(secret)),
      () => `the plants of ${stranger} have changed`,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    process.off('uncaughtException', this.#onUncaught);
    this.#server.close();
    this.#server.closeAllConnections();
    await this.store.close();
  }

  #connections(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.getConnections((error, count) => {
        if (error) reject(error);
        else resolve(count);
      });
    });
  }

  /** A correct request is answered as ever; its write goes behind all that are under way. */
  async #probe(): Promise<void> {
    const absent = `DELETE /plants/${10n ** 15n} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer cyn\r\n\r\n`;
    const { received } = await play(this.port, {
      drafts: [absent],
      isStepwise: false,
      cuts: [],
      ending: 'waits',
      endsAt: 1,
    });
    rule(
      received.answers.map(({ status }) => status).join() === '404',
      () => `a correct request is answered ${JSON.stringify(received)}`,
    );
  }
}
