import type { CheckRequest, CheckResponse } from '../../../../src/kits/conformance/exchange.ts';
import { changed } from './fault.ts';
import type { Break, BrokenServer } from './fault.ts';

const error = (integer: number): string => JSON.stringify({ error: integer, message: 'No.' });
const idOf = (target: string): string | undefined => /^\/plants\/(-?\d{1,18})$/.exec(target)?.[1];

/** Returns the same request with the token of another user. */
function sentBy(user: string, request: CheckRequest): CheckRequest {
  return { ...request, headers: { ...request.headers, authorization: `Bearer ${user}` } };
}

/** Returns servers that do not keep `caller` from the plants of `owner`. Their tokens are their names. */
function brokenFor(caller: string, owner: string): BrokenServer[] {
  const isCaller = ({ headers }: CheckRequest): boolean => headers['authorization'] === `Bearer ${caller}`;

  /** Alters the 404 for a plant of `owner`, so that it reveals the plant. */
  const revealing =
    (alter: (response: CheckResponse) => CheckResponse): Break =>
    (send, { store }) =>
    async (request) => {
      const response = await send(request);
      const id = idOf(request.target);
      if (response.status !== 404 || id === undefined || !isCaller(request)) return response;
      const [found] = await store.listPlants(owner, { after: BigInt(id) - 1n, limit: 1 });
      return found?.id === BigInt(id) ? alter(response) : response;
    };

  return [
    {
      name: `lists the plants of ${owner} to ${caller}`,
      fails: 'isolation-list',
      break: (send) => async (request) => {
        const response = await send(request);
        if (request.method !== 'GET' || request.target !== '/plants' || !isCaller(request)) return response;
        const others = await send(sentBy(owner, request));
        return changed(response, {
          text: JSON.stringify([...(JSON.parse(response.text) as []), ...(JSON.parse(others.text) as [])]),
        });
      },
    },
    {
      name: `lets ${caller} delete the plants of ${owner}`,
      fails: 'isolation-delete',
      break: (send) => async (request) => {
        const response = await send(request);
        const isMissing = request.method === 'DELETE' && response.status === 404 && isCaller(request);
        return isMissing ? send(sentBy(owner, request)) : response;
      },
    },
    {
      name: `deletes the plant of ${owner} with the plant of ${caller}`,
      fails: 'isolation-delete-same-id',
      break: (send) => async (request) => {
        const response = await send(request);
        if (request.method === 'DELETE' && response.status === 204 && isCaller(request)) {
          await send(sentBy(owner, request));
        }
        return response;
      },
    },
    {
      name: `reveals the plants of ${owner} to ${caller} with a 403`,
      fails: 'isolation-no-oracle',
      break: revealing((response) => changed(response, { status: 403, text: error(40301) })),
    },
    {
      name: `reveals the plants of ${owner} to ${caller} with a header`,
      fails: 'isolation-no-oracle',
      break: revealing((response) => changed(response, { headers: { 'x-owner': owner } })),
    },
    {
      name: `does not let ${caller} hold an id of ${owner}`,
      fails: 'isolation-same-id',
      break:
        (send, { store }) =>
        async (request) => {
          const id = /^\{"id":(-?\d{1,18}),/.exec(String(request.body))?.[1];
          if (request.method !== 'POST' || id === undefined || !isCaller(request)) return send(request);
          const [found] = await store.listPlants(owner, { after: BigInt(id) - 1n, limit: 1 });
          return found?.id === BigInt(id) ? send({ ...request, body: '{}' }) : send(request);
        },
    },
  ];
}

/** Servers that do not keep users apart, in one direction only. The checks use ada as user A and bob as user B. */
export const brokenIsolations: readonly BrokenServer[] = [...brokenFor('bob', 'ada'), ...brokenFor('ada', 'bob')];
