import type { Server } from 'node:http';
import type { StorageAdapter } from '../../storage/storage-adapter.ts';
import type { PlantStore } from '../../store/plant-store.ts';
import { listen } from '../listen.ts';
import type { ListenAddress } from '../listen.ts';
import { createAdminServer } from './admin-server.ts';
import { exposition } from './exposition.ts';
import { Reading } from './metric-types.ts';
import { ProcessMetrics } from './process-metrics.ts';
import { Readiness } from './readiness.ts';
import { ServiceMetrics } from './service-metrics.ts';

/** Options of {@link Admin.start}. */
export interface AdminOptions {
  readonly address: ListenAddress;
  /** The version of Plant Store. */
  readonly version: string;
  /** Called if the admin server fails after it has started. This function must end the process. */
  readonly onFailure: (error: Error) => void;
}

/** The admin port of `plant-store serve`: health checks and metrics, independent of the public port. */
export class Admin {
  /** The URL of the admin port. */
  readonly url: string;
  readonly #server: Server;
  readonly #readiness: Readiness;
  readonly #service: ServiceMetrics;
  readonly #process: ProcessMetrics;

  private constructor(url: string, server: Server, parts: [Readiness, ServiceMetrics, ProcessMetrics]) {
    this.url = url;
    this.#server = server;
    [this.#readiness, this.#service, this.#process] = parts;
  }

  /**
   * Opens the admin port. It responds to `/ready` with 503 until {@link serving} is called.
   *
   * @throws {Error} if the server cannot listen on this address; the message says what to change.
   */
  static async start({ address, version, onFailure }: AdminOptions): Promise<Admin> {
    const readiness = new Readiness();
    const service = new ServiceMetrics();
    const ofProcess = new ProcessMetrics(version);
    const server = createAdminServer({
      problem: () => readiness.problem(),
      metrics: async () => {
        const isUp = await readiness.storageWorks();
        const storageUp = new Reading('gauge', 'plant_store_storage_up', 'Whether the storage works, 1 or 0.', () =>
          isUp === undefined ? undefined : Number(isUp),
        );
        const text = exposition([...service.all, storageUp, ...ofProcess.all]);
        ofProcess.startInterval();
        return text;
      },
    });
    const url = await listen(server, address, adminSettings);
    server.on('error', onFailure);
    return new Admin(url, server, [readiness, service, ofProcess]);
  }

  /** Starts collecting the metrics of the public server. Call this method before the public server starts to listen. */
  watch(server: Server, store: PlantStore): void {
    this.#service.watch(server, store);
  }

  /** Counts a request that node:http rejected. */
  countRejected(): void {
    this.#service.countRejected();
  }

  /** Call this method when the public port is open. From then on, `/ready` responds with 200 if the storage works. */
  serving(storage: StorageAdapter): void {
    this.#readiness.serving(storage);
  }

  /** Call this method when the server begins to stop. From then on, `/ready` responds with 503. */
  draining(): void {
    this.#readiness.draining();
  }

  /** Closes the admin port and stops collecting metrics. */
  close(): void {
    this.#service.close();
    this.#process.close();
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

const adminSettings = {
  port: '--admin-port or PLANT_STORE_ADMIN_PORT',
  host: '--admin-host or PLANT_STORE_ADMIN_HOST',
};
