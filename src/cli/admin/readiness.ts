import type { StorageAdapter } from '../../storage/storage-adapter.ts';
import { readAndWrite } from '../storage-probe.ts';

/** How long the storage may take to answer a probe, in milliseconds. */
const probeTimeoutMs = 1000;
/** How long the result of a probe is used, in milliseconds. */
const reuseMs = 1000;

/** Decides whether the server is ready to be sent requests. */
export class Readiness {
  #phase: 'starting' | 'serving' | 'draining' = 'starting';
  #storage: StorageAdapter | undefined;
  #lastProbe: { readonly endedAtMs: number; readonly works: boolean } | undefined;
  /** The probe that has not ended. There is at most one, because a storage that hangs would collect them. */
  #probe: { readonly startedAtMs: number; readonly works: Promise<boolean> } | undefined;

  /** Called when the public port is open. */
  serving(storage: StorageAdapter): void {
    this.#phase = 'serving';
    this.#storage = storage;
  }

  /** Called when the server begins to stop. */
  draining(): void {
    this.#phase = 'draining';
  }

  /** Returns `undefined` if the server is ready, otherwise the reason why it is not. */
  async problem(): Promise<string | undefined> {
    if (this.#phase !== 'serving' || this.#storage === undefined) return this.#phase;
    const works = await this.#storageWorks(this.#storage);
    return works ? undefined : 'the storage does not answer';
  }

  async #storageWorks(storage: StorageAdapter): Promise<boolean> {
    const now = performance.now();
    if (this.#lastProbe !== undefined && now - this.#lastProbe.endedAtMs < reuseMs) return this.#lastProbe.works;
    this.#probe ??= { startedAtMs: now, works: this.#run(storage) };
    const leftMs = this.#probe.startedAtMs + probeTimeoutMs - now;
    return leftMs > 0 && withinMs(leftMs, this.#probe.works);
  }

  /** Probes the storage. Never rejects. */
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

/** Resolves like a promise, or with `false` if that takes too long. */
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
