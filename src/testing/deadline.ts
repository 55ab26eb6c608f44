import { clearTimeout, setTimeout } from 'node:timers';

/** Limits the time of each call. The error message names the call that failed. */
export class Deadline {
  readonly #ms: number;
  /** The number of calls that did not settle in time. */
  missed = 0;

  constructor(ms: number) {
    this.#ms = ms;
  }

  /** If the call returns a promise that rejects, throws an error whose `cause` is the reason. */
  async call<T>(text: string, start: () => T | Promise<T>): Promise<T> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      this.missed++;
      reject(new Error(`${text} did not settle within ${this.#ms} ms.`));
    }, this.#ms);
    try {
      const settled = Promise.resolve(start()).catch((cause: unknown) => {
        throw new Error(`${text} rejected: ${String(cause)}`, { cause });
      });
      return await Promise.race([settled, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}
