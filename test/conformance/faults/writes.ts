import { maxInt64, minInt64 } from '../../../src/core/model/int64.ts';
import {
  error,
  onBody,
  onCreated,
  onError,
  onList,
  onMethod,
  onRequest,
  onResponse,
  onStatus,
  onTarget,
} from './fault.ts';
import type { Break, BrokenServers } from './fault.ts';

/** Alters the strings in plants in responses. */
function onStrings(alter: (text: string) => string): Break {
  const alterPlant = (plant: object): object =>
    Object.fromEntries(Object.entries(plant).map(([key, text]) => [key, alter(text as string)]));
  const [inLists, inPlants] = [onList((list) => list.map(alterPlant)), onCreated(alterPlant)];
  return (send, service) => inLists(inPlants(send, service), service);
}

/** Refuses a create request that has the same match of a pattern as an earlier one. */
function refusesSecond(pattern: RegExp): Break {
  const seen = new Set<string>();
  return onBody(pattern, (found) => (seen.size < seen.add(found).size ? found : '"id":null'));
}

const fern = '{"id":1,"name":"Fern"}';
const isCreate = ({ method }: { method: string }): boolean => method === 'POST';
const rounded = (digits: string): string => BigInt(Number(digits)).toString();
const clamped = (digits: string): string => (BigInt(digits) > maxInt64 ? maxInt64.toString() : digits);

/** Servers that create or delete plants incorrectly, or that round int64 ids. */
export const brokenWrites: BrokenServers = {
  'create-200 responds with 201': onResponse(({ status }, request) =>
    isCreate(request) && status === 200 ? { status: 201 } : {},
  ),
  'create-200 returns an id with a new plant': onCreated((plant) => ({ id: 1, ...plant })),
  'create-without-tag returns the tag null for a new plant': onCreated((plant) => ({ tag: null, ...plant })),
  'create-unknown-fields refuses unknown fields': onBody(/^.*"color".*$/s, '{}'),
  'create-without-tag requires a tag': onBody(/^(?!.*"tag").*/s, '{}'),
  'invalid-id-type accepts an id in quotation marks': onBody(/"id":"(\d+)"/, '"id":$1'),
  'invalid-id-fraction truncates fractional ids': onBody(/("id":\d+)\.\d+/, '$1'),
  'invalid-name-type accepts null as a name': onBody('"name":null', '"name":"null"'),
  'invalid-tag-type takes a tag that is null for an absent one': onBody(',"tag":null', ''),
  'invalid-text removes U+0000': onBody(/\\u0000/g, ''),
  'taken-id-unchanged overwrites a plant whose id is taken': (send) => async (request) => {
    const id = /^\{"id":(-?\d+),/.exec(String(request.body))?.[1];
    if (isCreate(request) && id !== undefined) await send({ ...request, method: 'DELETE', target: `/plants/${id}` });
    return send(request);
  },
  'taken-id-400 responds with 409 if an id is taken': onError(40003, { status: 409, text: error(40901) }),
  'invalid-missing-name responds with 422 to an invalid plant': onError(40002, { status: 422, text: error(42201) }),
  'body-media-type responds with 415 to another media type': onError(40007, { status: 415, text: error(41501) }),
  'body-too-large responds with 413 to a large body': onError(40008, { status: 413, text: error(41301) }),
  'body-malformed decodes every body with replacement characters': onRequest(({ body }) =>
    body instanceof Uint8Array ? { body: new TextDecoder().decode(body) } : {},
  ),
  'body-media-type does not require a media type': onRequest(({ headers, ...request }) =>
    isCreate(request) ? { headers: { 'content-type': 'application/json', ...headers } } : {},
  ),
  'create-media-type refuses a charset': onRequest(({ headers }) =>
    headers['content-type']?.includes('charset') === true ? { headers: { ...headers, 'content-type': 'x' } } : {},
  ),
  'create-same-name requires unique names': refusesSecond(/"name":"[^"]*"/),
  'taken-id-free-again keeps the id of a deleted plant taken': refusesSecond(/"id":\d+/),
  'invalid-not-an-object takes anything else for a plant': onBody(/^(?!\{).*/s, fern),
  'invalid-missing-id chooses a missing id': onBody(/^\{"name"/, '{"id":1,"name"'),
  'body-missing creates a plant if there is no body': onRequest(({ method, headers, body }) =>
    method === 'POST' && body === undefined
      ? { headers: { ...headers, 'content-type': 'application/json' }, body: fern }
      : {},
  ),
  'body-deeply-nested crashes': onResponse((_, { body }) => (String(body).includes('[[[[') ? { status: 500 } : {})),
  'string-empty refuses an empty name': onBody('"name":""', '"name":null'),
  'string-long refuses a long name': onBody(/^.{9999}.*/s, '{}'),
  'int64-range refuses the largest id': onBody(String(maxInt64), 'null'),
  'int64-range refuses the smallest id': onBody(String(minInt64), 'null'),
  'string-white-space trims strings': onStrings((text) => text.trim()),
  'string-unicode normalizes strings': onStrings((text) => text.normalize('NFC')),
  'string-unicode loses characters beyond U+FFFF': onStrings((text) => text.replace(/[^\0-\uFFFF]/gu, '?')),
  'string-markup escapes HTML': onStrings((text) => text.replaceAll('<', '&lt;')),
  'int64-neighbors rounds ids in bodies': onBody(/(?<=^\{"id":)-?\d{1,19}(?=,)/, rounded),
  'int64-delete-exact rounds ids in paths': onTarget(/(?<=^\/plants\/)\d{16,19}$/, rounded),
  'after-exclusive rounds after': onTarget(/(?<=after=)\d{16,19}/, rounded),
  'link-next rounds ids in Link': onResponse(({ headers }) => {
    const link = headers.get('link')?.replace(/(?<=after=)\d+/, rounded);
    return link === undefined ? {} : { headers: { link } };
  }),
  'int64-out-of-range stores an id beyond int64 under the largest one': onBody(/(?<="id":)\d{19,31}(?=,)/, clamped),
  'delete-out-of-range deletes the plant with the largest id': onTarget(/(?<=^\/plants\/)\d{19}$/, clamped),
  'int64-notations refuses integral ids with a fraction part': onBody(/(?<="id":\d+)\.0(?=,)/, '.5'),
  'int64-notations refuses exponents': onBody(/"id":(\d+)e3/, '"id":"$1"'),
  'int64-range refuses negative ids': onBody(/"id":-\d+/, '"id":null'),
  'int64-range refuses the id 0': onBody('"id":0,', '"id":null,'),
  'delete-204 responds to DELETE with 200 and null': onStatus(204, { status: 200, text: 'null' }),
  'delete-gone does not delete': (send) => async (request) =>
    request.method === 'DELETE' && /^\/plants\/-?\d{1,18}$/.test(request.target)
      ? { request, status: 204, headers: new Headers(), text: '' }
      : send(request),
  'concurrent-linearizable deletes a plant for two concurrent requests': (send) => {
    const running = new Map<string, ReturnType<typeof send>>();
    return (request) => {
      if (request.method !== 'DELETE') return send(request);
      const sent = running.get(request.target) ?? send(request).finally(() => running.delete(request.target));
      running.set(request.target, sent);
      return sent;
    };
  },
  'concurrent-linearizable fails every create': onMethod('POST', { status: 500 }),
  'delete-absent responds with 204 to the DELETE of an absent plant': onError(40402, { status: 204, text: '' }),
  'delete-absent sends an HTML page with a 404': onStatus(404, { headers: { 'content-type': 'text/html' } }),
  'delete-invalid-id responds with 404 to an invalid id': onError(40004, { status: 404, text: error(40402) }),
  'delete-invalid-id accepts ids such as 7x': onTarget(/(?<=^\/plants\/\d+)x$/, ''),
};
