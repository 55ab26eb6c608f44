import { changed, onHeader, onList, onQuery, onResponse, onTarget } from './fault.ts';
import type { BrokenServers } from './fault.ts';

/** Servers that list plants incorrectly. */
export const brokenLists: BrokenServers = {
  'limit-bounds ignores limit': onTarget(/limit=[1-9]\d*/, 'limit=2147483647'),
  'limit-bounds takes limit=0 for no limit': onTarget(/limit=0(?!\d|x)/, ''),
  'limit-invalid takes the first of several limits': onTarget(/(limit=\d+)&limit=\d+/, '$1'),
  'limit-invalid takes an invalid limit for none': onQuery((query) => {
    if (!/^\d{1,9}$/.test(query.get('limit') ?? '1')) query.delete('limit');
  }),
  'list-all returns at most 1000 plants': onList((list) => list.slice(0, 1000)),
  'after-exclusive includes after in the list': onTarget(/(?<=after=)\d+/, (digits) => String(BigInt(digits) - 1n)),
  'after-exclusive takes a negative after for -1': onTarget(/after=-\d+/, 'after=-1'),
  'after-invalid ignores an invalid after': onQuery((query) => {
    if (!/^-?\d{1,18}$/.test(query.get('after') ?? '1')) query.delete('after');
  }),
  'list-unknown-parameter refuses unknown parameters': onTarget('page=7', 'limit=x'),
  'list-order lists plants in the order of their creation': (send, service) => {
    const names: string[] = [];
    const sorting = onList((list) =>
      list.toSorted((one, other) => names.indexOf(one.name) - names.indexOf(other.name)),
    );
    return (request) => {
      if (request.method === 'POST') names.push(/"name":"([^"]*)"/.exec(String(request.body))?.[1] ?? '');
      return sorting(send, service)(request);
    };
  },
  'list-shape lists plants with an id': onList((list) => list.map((plant) => ({ ...plant, id: 1 }))),
  'list-200 wraps lists in an object': onList((items) => ({ items })),
  'link-next sends no Link': onHeader('link', null),
  'link-absent always sends a Link': onResponse(({ headers }) =>
    headers.has('link') ? {} : { headers: { link: '</plants?limit=1&after=1>; rel="next"' } },
  ),
  'link-last-page sends a Link with every full page': onResponse(({ headers, text }, { target }) => {
    const limit = Number(/limit=(\d+)/.exec(target)?.[1] ?? NaN);
    const isFull = text.startsWith('[{') && (JSON.parse(text) as unknown[]).length === limit;
    const link = '</plants?limit=1&after=9223372036854775807>; rel="next"';
    return isFull && !headers.has('link') ? { headers: { link } } : {};
  }),
  'link-after-changes pages by offset': (deliver) => async (request) => {
    const { target } = request;
    const offset = Number(/&offset=(\d+)/.exec(target)?.[1] ?? 0);
    const limit = Number(/limit=(\d+)/.exec(target)?.[1] ?? 0);
    const all = await deliver({ ...request, target: target.replace(/limit=\d+(&offset=\d+)?/, '') });
    if (limit === 0) return all;
    const link = `<${target.replace(/&offset=\d+/, '')}&offset=${offset + limit}>; rel="next"`;
    const page = (JSON.parse(all.text) as unknown[]).slice(offset, offset + limit);
    return changed(all, { text: JSON.stringify(page), headers: { link } });
  },
  'link-next forgets the limit in Link': onResponse(({ headers }) => ({
    headers: { link: headers.get('link')?.replace(/limit=\d+&/, '') ?? null },
  })),
  'create-visible serves an old list': (send) => {
    let old: Awaited<ReturnType<typeof send>> | undefined;
    return async (request) => {
      if (request.method === 'POST') old = await send({ ...request, method: 'GET', body: undefined });
      return request.method === 'GET' && old !== undefined ? changed(old, {}) : send(request);
    };
  },
};
