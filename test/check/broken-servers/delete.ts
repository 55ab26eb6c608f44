import type { CheckResponse } from '../../../src/check/exchange.ts';
import { changed, onRequest, onResponse, onStatus } from './fault.ts';
import type { BrokenServer } from './fault.ts';

const error = (integer: number): string => JSON.stringify({ error: integer, message: 'No.' });
const idOf = (target: string): string | undefined => /^\/plants\/(-?\d{1,18})$/.exec(target)?.[1];
const isBob = ({ headers }: { headers: Readonly<Record<string, string>> }): boolean =>
  headers['authorization'] === 'Bearer bob';

/** Alters the 404 for a plant that another user has, so that it reveals the plant. */
function revealing(alter: (response: CheckResponse) => CheckResponse): BrokenServer['break'] {
  return (send, { store }) =>
    async (request) => {
      const response = await send(request);
      const id = idOf(request.target);
      if (response.status !== 404 || id === undefined || !isBob(request)) return response;
      const [found] = await store.listPlants('ada', { after: BigInt(id) - 1n, limit: 1 });
      return found?.id === BigInt(id) ? alter(response) : response;
    };
}

/** Servers that delete plants wrongly, or do not keep users apart. */
export const brokenDeletes: readonly BrokenServer[] = [
  {
    name: 'responds to DELETE with 200 and null',
    fails: 'delete-204',
    break: onStatus(204, { status: 200, text: 'null', headers: { 'content-type': 'application/json' } }),
  },
  {
    name: 'does not delete',
    fails: 'delete-gone',
    break: (send) => async (request) =>
      request.method === 'DELETE' && idOf(request.target) !== undefined
        ? { status: 204, headers: new Headers(), text: '' }
        : send(request),
    leavesPlants: true,
  },
  {
    name: 'responds with 204 to the DELETE of an absent plant',
    fails: 'delete-absent',
    break: onResponse(({ text }) =>
      text.includes('40402') ? { status: 204, text: '', headers: { 'content-type': null } } : {},
    ),
  },
  {
    name: 'responds with 404 to an invalid id',
    fails: 'delete-invalid-id',
    break: onResponse(({ text }) => (text.includes('40004') ? { status: 404, text: error(40402) } : {})),
  },
  {
    name: 'accepts ids such as 7x',
    fails: 'delete-invalid-id',
    break: onRequest((request) => ({ ...request, target: request.target.replace(/(?<=^\/plants\/\d+)x$/, '') })),
  },
  {
    name: 'sends an HTML page with a 404',
    fails: 'delete-absent',
    break: onStatus(404, { text: '<h1>Not found</h1>', headers: { 'content-type': 'text/html' } }),
  },
  {
    name: 'refuses the content of a DELETE',
    fails: 'delete-with-content',
    break: (send) => async (request) =>
      request.method === 'DELETE' && request.body !== undefined
        ? send({ ...request, target: '/plants/x' })
        : send(request),
  },
  {
    name: 'lists the plants of all users',
    fails: 'isolation-list',
    break: (send) => async (request) => {
      const response = await send(request);
      if (request.method !== 'GET' || request.target !== '/plants' || response.status !== 200 || !isBob(request)) {
        return response;
      }
      const others = await send({ ...request, headers: { ...request.headers, authorization: 'Bearer ada' } });
      return changed(response, {
        text: JSON.stringify([...(JSON.parse(response.text) as []), ...(JSON.parse(others.text) as [])]),
      });
    },
  },
  {
    name: 'deletes the plants of other users',
    fails: 'isolation-delete',
    break: (send) => async (request) => {
      const response = await send(request);
      if (request.method !== 'DELETE' || response.status !== 404) return response;
      return send({ ...request, headers: { ...request.headers, authorization: 'Bearer ada' } });
    },
  },
  {
    name: 'reveals the plants of other users with a 403',
    fails: 'isolation-no-oracle',
    break: revealing((response) => changed(response, { status: 403, text: error(40301) })),
  },
  {
    name: 'reveals the plants of other users with a header',
    fails: 'isolation-no-oracle',
    break: revealing((response) => changed(response, { headers: { 'x-owner': 'ada' } })),
  },
  {
    name: 'lets only one user hold an id',
    fails: 'isolation-same-id',
    break:
      (send, { store }) =>
      async (request) => {
        const id = /^\{"id":(-?\d{1,18}),/.exec(String(request.body))?.[1];
        if (request.method !== 'POST' || id === undefined || !isBob(request)) return send(request);
        const [found] = await store.listPlants('ada', { after: BigInt(id) - 1n, limit: 1 });
        return found?.id === BigInt(id) ? send({ ...request, body: '{}' }) : send(request);
      },
  },
];
