import { changed, onBody, onPlants, onResponse, onStatus } from './fault.ts';
import type { BrokenServer } from './fault.ts';
import { errorTable } from '../../../../src/index.ts';

const invalid = JSON.stringify({ error: errorTable.invalid_plant.error, message: 'No.' });

/** Alters the strings of plants. */
function onStrings(alter: (text: string) => string): BrokenServer['break'] {
  return onPlants((plant) =>
    Object.fromEntries(Object.entries(plant).map(([key, text]) => [key, alter(text as string)])),
  );
}

/** Servers that create plants wrongly. */
export const brokenCreates: readonly BrokenServer[] = [
  {
    name: 'responds with 201',
    fails: 'create-200',
    break: onResponse(({ status }, { method }) => (method === 'POST' && status === 200 ? { status: 201 } : {})),
  },
  {
    name: 'returns an id with a new plant',
    fails: 'create-response',
    break: onPlants((plant) => ({ id: 1, ...plant }), 'POST'),
  },
  {
    name: 'returns the tag null for a new plant',
    fails: 'create-without-tag',
    break: onPlants((plant) => ({ tag: null, ...plant }), 'POST'),
  },
  {
    name: 'refuses unknown fields',
    fails: 'create-unknown-fields',
    break: (send) => async (request) =>
      String(request.body).includes('"colour"')
        ? changed(await send({ ...request, body: '{}' }), { text: invalid })
        : send(request),
  },
  {
    name: 'requires a tag',
    fails: 'create-without-tag',
    break: (send) => async (request) =>
      request.method === 'POST' && !String(request.body).includes('"tag"')
        ? send({ ...request, body: '{}' })
        : send(request),
  },
  {
    name: 'accepts an id in quotation marks',
    fails: 'invalid-id-type',
    break: onBody((body) => body.replace(/"id":"(\d+)"/, '"id":$1')),
  },
  {
    name: 'truncates fractional ids',
    fails: 'invalid-id-fraction',
    break: onBody((body) => body.replace(/("id":\d+)\.\d+/, '$1')),
  },
  {
    name: 'accepts null as a name',
    fails: 'invalid-name-type',
    break: onBody((body) => body.replace('"name":null', '"name":"null"')),
  },
  {
    name: 'takes a tag that is null for an absent one',
    fails: 'invalid-tag-type',
    break: onBody((body) => body.replace(',"tag":null', '')),
  },
  { name: 'removes U+0000', fails: 'invalid-text', break: onBody((body) => body.replaceAll('\\u0000', '')) },
  {
    name: 'overwrites a plant whose id is taken',
    fails: 'taken-id-unchanged',
    break: (send) => async (request) => {
      const id = /^\{"id":(-?\d+),/.exec(String(request.body))?.[1];
      if (request.method === 'POST' && id !== undefined) {
        await send({ ...request, method: 'DELETE', target: `/plants/${id}` });
      }
      return send(request);
    },
  },
  {
    name: 'responds with 409 if an id is taken',
    fails: 'taken-id-400',
    break: onResponse(({ text }) =>
      text.includes('40003') ? { status: 409, text: '{"error":40901,"message":"Taken."}' } : {},
    ),
  },
  {
    name: 'responds with 422 to an invalid plant',
    fails: 'invalid-missing-name',
    break: onResponse(({ text }) =>
      text.includes('40002') ? { status: 422, text: '{"error":42201,"message":"No."}' } : {},
    ),
  },
  {
    name: 'responds with 415 to another media type',
    fails: 'body-media-type',
    break: onResponse(({ text }) =>
      text.includes('40007') ? { status: 415, text: '{"error":41501,"message":"No."}' } : {},
    ),
  },
  {
    name: 'responds with 413 to a large body',
    fails: 'body-too-large',
    break: onResponse(({ text }) =>
      text.includes('40008') ? { status: 413, text: '{"error":41301,"message":"No."}' } : {},
    ),
  },
  {
    name: 'fails on malformed JSON',
    fails: 'body-malformed',
    break: onResponse(({ text }) =>
      text.includes('40001') ? { status: 500, text: '{"error":50000,"message":"No."}' } : {},
    ),
  },
  {
    name: 'decodes every body with replacement characters',
    fails: 'body-not-utf-8',
    break: (send) => (request) =>
      send(request.body instanceof Uint8Array ? { ...request, body: new TextDecoder().decode(request.body) } : request),
  },
  {
    name: 'does not require a media type',
    fails: 'body-media-type-missing',
    break: (send) => (request) =>
      send(
        request.method === 'POST'
          ? { ...request, headers: { 'content-type': 'application/json', ...request.headers } }
          : request,
      ),
  },
  { name: 'trims strings', fails: 'string-white-space', break: onStrings((text) => text.trim()) },
  { name: 'normalizes strings', fails: 'string-normalization', break: onStrings((text) => text.normalize('NFC')) },
  {
    name: 'loses characters beyond U+FFFF',
    fails: 'string-beyond-bmp',
    break: onStrings((text) => text.replace(/[^\0-\uFFFF]/gu, '?')),
  },
  { name: 'escapes HTML', fails: 'string-markup', break: onStrings((text) => text.replaceAll('<', '&lt;')) },
  {
    name: 'declares JSON as text',
    fails: 'create-media-type',
    break: onStatus(200, { headers: { 'content-type': 'text/plain' } }),
  },
];
