import { must, plantStore } from '../check-case.ts';
import type { CheckCase } from '../check-case.ts';
import type { CheckClient } from '../check-client.ts';
import { newPlantJson } from '../check-user.ts';
import { expectError, expectStatus } from '../expect.ts';

const source = plantStore('create failures');

/** Media types other than JSON in UTF-8. */
export const otherMediaTypes: readonly string[] = [
  'text/plain',
  'application/xml',
  'application/x-www-form-urlencoded',
  'application/jsonp',
  'application/vnd.api+json',
  'application/json; charset=latin1',
];

/** Returns texts that are not JSON. Most of them are derived from `plant`, the JSON of a plant. */
export function malformedJson(plant: string): string[] {
  return [
    '{',
    'id=1',
    plant.slice(0, -1),
    `${plant}}`,
    `${plant},`,
    plant.replaceAll('"', "'"),
    plant.replace(/\}$/, ',}'),
    `// a comment\n${plant}`,
    plant.replace(/:(\d+)/, ':0$1'),
    plant.replace(/:(\d+)/, ':+$1'),
  ];
}

/** Returns a plant as JSON, encoded in ISO 8859-1. The bytes of its name are not valid UTF-8. */
export function latin1Plant(id: bigint): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(`{"id":${id},"name":"Löwenzahn"}`, (character) => character.charCodeAt(0));
}

/** Sends a valid NewPlant with these headers instead of the default headers of the same names. Returns the exchange. */
async function createWith(
  client: CheckClient,
  headers: Record<string, string | undefined>,
): ReturnType<CheckClient['a']['send']> {
  const plant = client.newPlant();
  client.a.track([plant.id]);
  return client.a.send('POST', '/plants', { body: newPlantJson(plant), headers });
}

/**
 * Checks of POST /plants with a body that is missing, is not JSON, has another media type, or is very large or deeply
 * nested.
 */
export const invalidBodyCases: readonly CheckCase[] = [
  must('body-missing', 'respond with 400 to POST /plants without a body', source, async ({ a }) => {
    expectError(await a.send('POST', '/plants', { headers: { 'content-type': 'application/json' } }), 400);
    expectError(await a.send('POST', '/plants'), 400);
  }),
  must('body-malformed', 'respond with 400 to a body that is not JSON', `${source}; RFC 8259`, async (client) => {
    const { id, name } = client.newPlant();
    for (const body of malformedJson(newPlantJson({ id, name }))) expectError(await client.a.post(body, [id]), 400);
  }),
  must('body-not-utf-8', 'respond with 400 to a body that is not UTF-8', `${source}; RFC 8259 §8.1`, async (client) => {
    const id = client.newId();
    expectError(await client.a.post(latin1Plant(id), [id]), 400);
  }),
  must('body-media-type', 'respond with 400 to a body of another media type', source, async (client) => {
    for (const type of otherMediaTypes) expectError(await createWith(client, { 'content-type': type }), 400);
  }),
  must('body-media-type-missing', 'respond with 400 to a body without a media type', source, async (client) => {
    expectError(await createWith(client, { 'content-type': undefined }), 400);
  }),
  must('body-too-large', 'respond to a body of 1 MiB with 200 or 400', source, async (client) => {
    const { id, name } = client.newPlant();
    const sent = await client.a.create({ id, name, tag: 'x'.repeat(1_048_576) });
    expectStatus(sent, 200, 400);
    if (sent.response.status === 400) expectError(sent, 400);
  }),
  must('body-deeply-nested', 'respond to a body that nests 20,000 levels with 200 or 400', source, async (client) => {
    const { id, name } = client.newPlant();
    const nested = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    const sent = await client.a.post(newPlantJson({ id, name }).replace('{', `{"x":${nested},`), [id]);
    expectStatus(sent, 200, 400);
  }),
];
