import type { StorageAdapter } from '../../storage/storage-adapter.ts';
import { readAndWrite } from '../storage-probe.ts';

/** The timeout for a probe of the storage, in milliseconds. */
const probeTimeoutMs = 1000;
/** The time for which the result of a probe is reused, in milliseconds. */
const reuseMs = 1000;

/** Determines whether the server is ready to receive requests. */
export class Readiness {
  #phase: 'starting' | 'serving' | 'draining' = 'starting';
  #storage: StorageAdapter | undefined;
  #lastProbe: { readonly endedAtMs: number; readonly works: boolean } | undefined;
  /**
   * The probe that is in progress. At most one probe runs at a time, because probes would accumulate if the storage
   * hung.
   */
  #probe: { readonly startedAtMs: number; readonly works: Promise<boolean> } | undefined;

  /** Call this method when the public port is open. */
  serving(storage: StorageAdapter): void {
    this.#phase = 'serving';
    this.#storage = storage;
  }

  /** Call this method when the server begins to stop. */
  draining(): void {
    this.#phase = 'draining';
  }

  /** Returns the reason why the server is not ready, or `undefined` if it is ready. */
  async problem(): Promise<string | undefined> {
    if (this.#phase !== 'serving') return this.#phase;
    return (await this.storageWorks()) === false ? 'the storage does not answer' : undefined;
  }

  /** Returns whether the storage works, or `undefined` before the server has started and while it stops. */
  async storageWorks(): Promise<boolean | undefined> {
    const storage = this.#storage;
    if (this.#phase !== 'serving' || storage === undefined) return undefined;
    const now = performance.now();
    if (this.#lastProbe !== undefined && now - this.#lastProbe.endedAtMs < reuseMs) return this.#lastProbe.works;
    this.#probe ??= { startedAtMs: now, works: this.#run(storage) };
    const leftMs = this.#probe.startedAtMs + probeTimeoutMs - now;
    return leftMs > 0 && withinMs(leftMs, this.#probe.works);
  }

  /** Probes the storage. Resolves with `true` if the storage works, otherwise with `false`. Never rejects. */
  async #run(storage: StorageAdapter): Promise<boolean> {
    const works = await readAndWrite(storage).then(
      () => true,
      () => false,
    );
    this.#lastProbe = { endedAtMs: performance.now(), works };
    this.#probe = undefined;
    return works;
  }
}

/** Resolves with the result of a promise, or with `false` if the promise does not settle in time. */
async function withinMs(milliseconds: number, promise: Promise<boolean>): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => {
    late.resolve(false);
  }, milliseconds);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
