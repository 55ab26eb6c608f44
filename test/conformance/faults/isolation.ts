import type { SentRequest } from '../exchange.ts';
import type { AnyService } from '../../support/service.ts';
import { changed, error, onCredentials } from './fault.ts';
import type { Break, BrokenServers } from './fault.ts';

/** Returns a copy of the request with the token of another user. */
function sentBy(user: string, request: SentRequest): SentRequest {
  return { ...request, headers: { ...request.headers, authorization: `Bearer ${user}` } };
}

/** Returns whether the user has a plant with this id. */
async function hasPlant({ store }: AnyService, user: string, id: bigint): Promise<boolean> {
  const [found] = await store.listPlants(user, { after: id - 1n, limit: 1 });
  return found?.id === id;
}

/** Returns servers that do not isolate the plants of `owner` from `caller`. Each user's token is the user's name. */
function brokenFor(caller: string, owner: string): BrokenServers {
  const isCaller = ({ headers }: SentRequest): boolean => headers['authorization'] === `Bearer ${caller}`;

  const deletesForBoth: Break = (send) => async (request) => {
    const response = await send(request);
    if (request.method !== 'DELETE' || !isCaller(request)) return response;
    const second = await send(sentBy(owner, request));
    return response.status === 404 ? second : response;
  };

  return {
    [`isolation-list lists the plants of ${owner} to ${caller}`]: (send) => async (request) => {
      const response = await send(request);
      if (request.method !== 'GET' || request.target !== '/plants' || !isCaller(request)) return response;
      const lists = [response.text, (await send(sentBy(owner, request))).text];
      return changed(response, { text: JSON.stringify(lists.flatMap((text) => JSON.parse(text) as unknown[])) });
    },
    [`isolation-list lists the plants of ${owner} to ${caller} if there is an after`]: (send) => (request) =>
      send(isCaller(request) && request.target.includes('after=') ? sentBy(owner, request) : request),
    [`isolation-delete lets ${caller} delete the plants of ${owner}`]: deletesForBoth,
    [`isolation-delete-same-id deletes the plant of ${owner} with that of ${caller}`]: deletesForBoth,
    [`isolation-delete reveals the plants of ${owner} to ${caller} with a message`]:
      (send, service) => async (request) => {
        const response = await send(request);
        const id = /^\/plants\/(-?\d{1,18})$/.exec(request.target)?.[1];
        const isHidden = response.status === 404 && id !== undefined && isCaller(request);
        if (!isHidden || !(await hasPlant(service, owner, BigInt(id)))) return response;
        return changed(response, { text: error(40402) });
      },
    [`isolation-same-id does not let ${caller} hold an id of ${owner}`]: (send, service) => async (request) => {
      const id = /^\{"id":(-?\d{1,18}),/.exec(String(request.body))?.[1];
      const isTaken = isCaller(request) && id !== undefined && (await hasPlant(service, owner, BigInt(id)));
      return send(isTaken ? { ...request, body: '{}' } : request);
    },
  };
}

/** Servers that do not isolate one user from the other. The checks use ada as user A and bob as user B. */
export const brokenIsolations: BrokenServers = {
  'isolation-list takes bob for ada': onCredentials('bob', 'ada'),
  ...brokenFor('bob', 'ada'),
  ...brokenFor('ada', 'bob'),
};
