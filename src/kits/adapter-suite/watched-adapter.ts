import { setTimeout } from 'node:timers';
import type { PlantPage, StorageAdapter } from '../../core/storage-adapter.ts';
import { ContractError, expect, fail, innermost, shown } from './expect.ts';

/** The timeout for a method that has already timed out, in milliseconds. */
const shortTimeoutMs = 100;

/** Calls an adapter's methods with a timeout. */
export class CallTimeouts {
  readonly #timeoutMs: number;
  readonly #hung = new Set<string>();

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Calls a function and waits for its promise. Throws a ContractError after a timeout. If a function with the same
   * name has already timed out, the timeout is much shorter, so that the suite does not take too long.
   */
  async settle<T>(name: string, call: () => T | Promise<T>): Promise<T> {
    const hasHung = this.#hung.has(name);
    const timeoutMs = hasHung ? Math.min(shortTimeoutMs, this.#timeoutMs) : this.#timeoutMs;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        this.#hung.add(name);
        const again = hasHung ? `, after it had not settled within ${seconds(this.#timeoutMs)} in an earlier test` : '';
        reject(new ContractError(`${name} did not settle within ${seconds(timeoutMs)}${again}.`));
      }, timeoutMs);
    });
    try {
      return await Promise.race([call(), late]);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Returns an adapter that forwards every call to `storage`, and checks that the result has the right type. */
export function watched(storage: StorageAdapter, timeouts: CallTimeouts): StorageAdapter {
  const called = async <T>(name: string, call: () => Promise<T>): Promise<T> => {
    try {
      return await timeouts.settle(name, () => promiseOf(name, call));
    } catch (error) {
      if (error instanceof Error && !(error instanceof ContractError)) rejections.set(error, name);
      throw error;
    }
  };
  return {
    commit: async (writes) => {
      const outcomes = await called('commit', () => storage.commit(writes));
      const count = writes.length;
      const s = count === 1 ? '' : 's';
      expect(
        isArray(outcomes, count) && outcomes.every((outcome) => typeof outcome === 'boolean'),
        `commit of ${count} write${s} resolved with ${shown(outcomes)}. It must resolve with ${count} boolean${s}.`,
      );
      return outcomes;
    },
    list: async (user, range) => {
      const page = (await called('list', () => storage.list(user, range))) as Partial<PlantPage> | undefined;
      const isPage = isArray(page?.plants) && typeof page.hasMore === 'boolean';
      const type = '{ plants, hasMore }, an array and a boolean';
      expect(isPage, `list resolved with ${shown(page)}. It must resolve with ${type}.`);
      return page as PlantPage;
    },
    async *scan() {
      for await (const page of storage.scan()) {
        expect(isArray(page), `scan yielded ${shown(page)}. It must yield arrays.`);
        yield page;
      }
    },
    ...(storage.dataVersion !== undefined && {
      dataVersion: () => {
        const version = storage.dataVersion?.();
        const isFinite = version !== undefined && Number.isFinite(version);
        expect(isFinite, `dataVersion returned ${shown(version)}. It must return a finite number.`);
        return version;
      },
    }),
    close: () => called('close', () => storage.close()),
  };
}

/** Maps each error to the name of the method that rejected with it. */
const rejections = new WeakMap<object, string>();

/** Returns the error with which a test fails. If an adapter rejected with the given error, adds the violated rule. */
export function explained(given: unknown): unknown {
  const error = innermost(given);
  const rejected = [error, (error as Error | undefined)?.cause].find(
    (each) => each instanceof Error && rejections.has(each),
  );
  if (!(rejected instanceof Error)) return error;
  const contract = `${rejections.get(rejected)} must not reject unless the storage fails or the adapter is closed.`;
  return new ContractError(`${contract} It rejected with ${shown(rejected)}.`, { cause: rejected });
}

/** Calls a method, and checks that it returns a promise and does not throw. */
function promiseOf<T>(name: string, call: () => Promise<T>): Promise<T> {
  let returned: unknown;
  try {
    returned = call();
  } catch (error) {
    fail(`${name} threw ${shown(error)}. It must return a promise that rejects.`, error);
  }
  const isPromise = typeof (returned as Partial<Promise<T>> | null | undefined)?.then === 'function';
  expect(isPromise, `${name} returned ${shown(returned)}. It must return a promise.`);
  return returned as Promise<T>;
}

function isArray<T>(value: readonly T[] | undefined, length = value?.length): value is T[] {
  return Array.isArray(value) && value.length === length;
}

function seconds(milliseconds: number): string {
  return milliseconds === 1000 ? '1 second' : `${milliseconds / 1000} seconds`;
}
