import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { PlantStore } from '../../src/index.ts';
import type { StorageAdapter, StoredPlant } from '../../src/index.ts';
import { createPlantServer } from '../../src/http.ts';
import { authenticate, collector, secret, stranger, users } from './callers.ts';
import { rule } from './finding.ts';
import { runScript } from './client-script.ts';

/** The plants of the collector: more than two pages. */
export const collection: readonly StoredPlant[] = Array.from({ length: 2100 }, (_, n) => ({
  id: BigInt(n) * 3n,
  name: `plant ${n} \u{1F33F}`,
  ...(n % 2 === 0 && { tag: '"' }),
}));
const hidden: readonly StoredPlant[] = [1n, 2n, 3n].map((id) => ({ id, name: `${secret} ${id}` }));

/** How long the server may take to become idle. */
const maxWaitMs = 5000;

/** A real server with its own storage, used for many cases. */
export class FuzzedServer implements AsyncDisposable {
  readonly port: number;
  readonly store: PlantStore;
  readonly #server: ReturnType<typeof createPlantServer>;
  readonly #faults: unknown[];
  /** Records an error that would have ended the process. */
  readonly #onUncaught = (error: Error): void => {
    this.#faults.push(error);
  };

  private constructor(server: ReturnType<typeof createPlantServer>, store: PlantStore, faults: unknown[]) {
    this.port = (server.address() as AddressInfo).port;
    this.store = store;
    this.#server = server;
    this.#faults = faults;
  }

  static async start(storage: StorageAdapter): Promise<FuzzedServer> {
    const store = new PlantStore({ storage });
    const faults: unknown[] = [];
    const server = createPlantServer(store, { authenticate, onError: (error) => faults.push(error) });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    await Promise.all([
      ...collection.map((plant) => store.createPlant(collector, plant)),
      ...hidden.map((plant) => store.createPlant(stranger, plant)),
    ]);
    const fuzzed = new FuzzedServer(server, store, faults);
    process.on('uncaughtException', fuzzed.#onUncaught);
    return fuzzed;
  }

  /** Replaces all plants of the users. */
  async reset(plants: readonly (readonly [user: string, plant: StoredPlant])[]): Promise<void> {
    for (const user of users) {
      const old = await this.store.listPlants(user);
      await Promise.all(old.map(({ id }) => this.store.deletePlant(user, id)));
    }
    await Promise.all(plants.map(([user, plant]) => this.store.createPlant(user, plant)));
  }

  /** Waits until the server is idle, then checks that it works and that no plant of the stranger changed. */
  async checkIdle(): Promise<void> {
    const deadline = performance.now() + maxWaitMs;
    while ((await this.#connections()) > 0) {
      rule(performance.now() < deadline, () => `a connection is open ${maxWaitMs} ms after its client closed it`);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await this.#probe();
    rule(this.#faults.length === 0, () => `faults: ${this.#faults.map(textOf).join('\n')}`);
    const stored = await this.store.listPlants(stranger);
    rule(
      stored.length === hidden.length && stored.every(({ name }) => name.startsWith(secret)),
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

  /** Sends a correct request. Its write is committed after all pending ones. */
  async #probe(): Promise<void> {
    const absent = `DELETE /plants/${10n ** 15n} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer cyn\r\n\r\n`;
    const { received } = await runScript(this.port, {
      drafts: [absent],
      isStepwise: false,
      cuts: [],
      ending: 'waits',
      endsAt: 1,
    });
    rule(
      received.responses.map(({ status }) => status).join() === '404',
      () => `the response to a correct request is ${JSON.stringify(received)}`,
    );
  }
}

function textOf(fault: unknown): string {
  return fault instanceof Error ? (fault.stack ?? fault.message) : String(fault);
}
