import type { SentRequest } from '../exchange.ts';
import { changed, error, onRequest } from './fault.ts';
import type { Break, BrokenServers } from './fault.ts';

/** Returns servers that do not isolate the plants of `owner` from `caller`. Each user's token is the user's name. */
function brokenFor(caller: string, owner: string): BrokenServers {
  const isCaller = ({ headers }: SentRequest): boolean => headers['authorization'] === `Bearer ${caller}`;

  /** Takes `caller` for `owner` in some requests. */
  const confuses = (part: 'method' | 'target', pattern: RegExp): Break =>
    onRequest((request) =>
      isCaller(request) && pattern.test(request[part])
        ? { headers: { ...request.headers, authorization: `Bearer ${owner}` } }
        : {},
    );

  return {
    [`isolation-list lists the plants of ${owner} to ${caller}`]: confuses('target', /^\/plants$/),
    [`isolation-list lists the plants of ${owner} to ${caller} if there is an after`]: confuses('target', /after=/),
    [`isolation-delete lets ${caller} delete the plants of ${owner}`]: confuses('method', /DELETE/),
    [`isolation-delete-same-id deletes the plant of ${owner} for ${caller}`]: confuses('method', /DELETE/),
    [`isolation-same-id does not let ${caller} hold an id of ${owner}`]: confuses('method', /POST/),
    [`isolation-delete reveals the plants of ${owner} to ${caller} with a message`]:
      (send, { store }) =>
      async (request) => {
        const response = await send(request);
        if (response.status !== 404 || !isCaller(request)) return response;
        const id = BigInt(request.target.replace('/plants/', ''));
        const [found] = await store.listPlants(owner, { after: id - 1n, limit: 1 });
        return found?.id === id ? changed(response, { text: error(40402) }) : response;
      },
  };
}

/** Servers that do not isolate one user from the other. The checks use ada as user A and bob as user B. */
export const brokenIsolations: BrokenServers = { ...brokenFor('bob', 'ada'), ...brokenFor('ada', 'bob') };
