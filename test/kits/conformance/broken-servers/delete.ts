import { onRequest, onResponse, onStatus } from './fault.ts';
import type { BrokenServer } from './fault.ts';

const error = (integer: number): string => JSON.stringify({ error: integer, message: 'No.' });
const idOf = (target: string): string | undefined => /^\/plants\/(-?\d{1,18})$/.exec(target)?.[1];

/** Servers that delete plants wrongly. */
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
];
