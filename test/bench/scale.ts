import { createDatabase, randomId } from './data-set.ts';
import { atMost, runLoad } from './load.ts';
import type { Exchange } from './load.ts';
import type { Participant } from './rounds.ts';
import { createExchange, requestText } from './requests.ts';
import type { ServerProcess } from './server-process.ts';

/** The row that measures the same requests with databases of different sizes. */
export const scaleName = 'scale';
/** How many plants each database contains. */
export const sizes = [10_000, 5_000_000];

/** A small number, so that the smallest database stays small. The created plants are deleted afterwards. */
const requests = 4000;
/** The owner of all plants. */
const user = 'ada';

/**
 * Creates a database with random ids. Inserts two thirds of the ids in ascending order, then the rest between them. The
 * file's pages are then as full as if the ids had been inserted in random order, but inserting takes only seconds.
 */
export async function createSizedDatabase(path: string, size: number): Promise<void> {
  await createDatabase(path, function* () {
    for (const count of [Math.round((size * 2) / 3), Math.round(size / 3)]) {
      for (let n = 0; n < count; n++) {
        yield [user, Math.floor((n + Math.random()) * (2 ** 52 / count)), `Fern number ${n}`];
      }
    }
  });
}

/** Measures three kinds of requests in turn: creating plants, listing 20 plants, and deleting the created plants. */
export function scaleParticipant(name: string, server: ServerProcess): Participant {
  const microsOf = async (next: (n: number) => Exchange): Promise<number> => {
    const before = await server.usage();
    await runLoad({ port: server.port, connections: 64, next: atMost(requests, next) });
    return ((await server.usage()).cpuMicros - before.cpuMicros) / requests;
  };
  const measure: Participant['measure'] = async () => {
    const ids = Array.from({ length: requests }, randomId);
    const fern = { name: 'Fern', tag: 'indoor' };
    const createMicros = await microsOf((n) => createExchange(user, ids[n] ?? 0, fern));
    const listTarget = (): string => `/plants?after=${randomId()}&limit=20`;
    const listMicros = await microsOf(() => ({ request: requestText('GET', listTarget(), user), status: 200 }));
    const deletion = (n: number): string => requestText('DELETE', `/plants/${ids[n] ?? 0}`, user);
    const deleteMicros = await microsOf((n) => ({ request: deletion(n), status: 204 }));
    return { cpuMicros: createMicros + listMicros + deleteMicros, createMicros, listMicros, deleteMicros };
  };
  return { name, measure };
}
