import { changed, onPlants, onRequest, onResponse } from './fault.ts';
import type { BrokenServer } from './fault.ts';

type Query = (parameters: URLSearchParams) => void;

/** Alters the query of GET /plants. */
function onQuery(alter: Query): BrokenServer['break'] {
  return onRequest((request) => {
    const [path = '', query] = request.target.split('?');
    if (query === undefined || path !== '/plants') return request;
    const parameters = new URLSearchParams(query);
    alter(parameters);
    return { ...request, target: `${path}?${parameters.toString()}` };
  });
}

/** Alters the list in a response to GET /plants. */
function onList(alter: (list: { name: string }[]) => unknown[]): BrokenServer['break'] {
  return onResponse(({ status, text }, { method, target }) => {
    if (status !== 200 || method !== 'GET' || !target.startsWith('/plants')) return {};
    return { text: JSON.stringify(alter(JSON.parse(text) as { name: string }[])) };
  });
}

/** Servers that list plants wrongly. */
export const brokenLists: readonly BrokenServer[] = [
  {
    name: 'ignores limit',
    fails: 'limit-bounds',
    break: onQuery((query) => {
      query.delete('limit');
    }),
  },
  {
    name: 'ignores limit, but not an invalid one',
    fails: 'limit-bounds',
    break: onRequest((request) => ({
      ...request,
      target: request.target.replace(/limit=[1-9]\d*/, 'limit=2147483647'),
    })),
  },
  {
    name: 'takes limit=0 for no limit',
    fails: 'limit-zero',
    break: onRequest((request) => ({ ...request, target: request.target.replace(/limit=0(?!\d|x)/, '') })),
  },
  {
    name: 'takes the first of several limits',
    fails: 'limit-repeated',
    break: onQuery((query) => {
      if (query.has('limit')) query.set('limit', query.get('limit') ?? '');
    }),
  },
  {
    name: 'takes an invalid limit for none',
    fails: 'limit-invalid',
    break: onQuery((query) => {
      if (!/^\d{1,9}$/.test(query.get('limit') ?? '1')) query.delete('limit');
    }),
  },
  { name: 'returns at most 1000 plants', fails: 'list-all', break: onList((list) => list.slice(0, 1000)) },
  {
    name: 'includes after in the list',
    fails: 'after-exclusive',
    break: onQuery((query) => {
      if (/^\d+$/.test(query.get('after') ?? '')) query.set('after', String(BigInt(query.get('after') ?? '') - 1n));
    }),
  },
  {
    name: 'ignores after',
    fails: 'after-exclusive',
    break: onQuery((query) => {
      query.delete('after');
    }),
  },
  {
    name: 'ignores an invalid after',
    fails: 'after-invalid',
    break: onQuery((query) => {
      if (!/^-?\d{1,18}$/.test(query.get('after') ?? '1')) query.delete('after');
    }),
  },
  {
    name: 'refuses unknown parameters',
    fails: 'list-unknown-parameter',
    break: onRequest((request) => ({ ...request, target: request.target.replace('page=7', 'limit=x') })),
  },
  {
    name: 'lists plants in the order of their creation',
    fails: 'list-order',
    break: (send) => {
      const names: string[] = [];
      return async (request) => {
        const name = request.method === 'POST' ? /"name":"([^"]*)"/.exec(String(request.body))?.[1] : undefined;
        if (name !== undefined) names.push(name);
        return onList((list) => list.toSorted((one, other) => names.indexOf(one.name) - names.indexOf(other.name)))(
          send,
          {} as never,
        )(request);
      };
    },
  },
  { name: 'lists plants with an id', fails: 'list-shape', break: onPlants((plant) => ({ ...plant, id: 1 }), 'GET') },
  {
    name: 'lists an absent tag as null',
    fails: 'list-shape',
    break: onPlants((plant) => ({ tag: null, ...plant }), 'GET'),
  },
  {
    name: 'wraps lists in an object',
    fails: 'list-200',
    break: onResponse(({ status, text }, { method, target }) =>
      status === 200 && method === 'GET' && target.startsWith('/plants') ? { text: `{"items":${text}}` } : {},
    ),
  },
  { name: 'sends no Link', fails: 'link-next', break: onResponse(() => ({ headers: { link: null } })) },
  {
    name: 'always sends a Link',
    fails: 'link-absent',
    break: onResponse(({ headers }) =>
      headers.has('link') ? {} : { headers: { link: '</plants?limit=1&after=1>; rel="next"' } },
    ),
  },
  {
    name: 'sends a Link with every full page',
    fails: 'link-absent-last-page',
    break: onResponse(({ headers, text }, { method, target }) => {
      const limit = Number(/limit=(\d+)/.exec(target)?.[1] ?? NaN);
      const isFull = method === 'GET' && text.startsWith('[{') && (JSON.parse(text) as unknown[]).length === limit;
      return isFull && !headers.has('link')
        ? { headers: { link: '</plants?limit=1&after=9223372036854775807>; rel="next"' } }
        : {};
    }),
  },
  {
    name: 'forgets the limit in Link',
    fails: 'link-parameters',
    break: onResponse(({ headers }) =>
      headers.has('link') ? { headers: { link: headers.get('link')?.replace(/limit=\d+&/, '') ?? null } } : {},
    ),
  },
  {
    name: 'serves an old list',
    fails: 'create-visible',
    break: (send) => {
      let old: Awaited<ReturnType<typeof send>> | undefined;
      return async (request) => {
        if (request.target !== '/plants' || request.method !== 'GET') return send(request);
        const response = await send(request);
        const served = old?.status === 200 ? old : response;
        old = response;
        return changed(served, {});
      };
    },
  },
];
