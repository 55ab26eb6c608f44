import type { CheckClient } from '../check-client.ts';
import type { Exchange } from '../exchange.ts';

/** Invalid values of `limit`, which must be a single integer from 0 to 2147483647. */
export const invalidLimits: readonly string[] = ',-1,-0,%2B1,1.5,1e3,0x10,x,%201,2147483648,99999999999999999999'.split(
  ',',
);

/** Invalid values of `after`, which must be a single int64. */
export const invalidAfters: readonly string[] = ',x,1.0,1e3,+,9223372036854775808,-9223372036854775809,%00'.split(',');

/** The `Authorization` header with a token that no server accepts. */
export const unknownToken = 'Bearer plant-store-check-unknown-token';

/**
 * Returns path segments that are not valid decimal int64 values. A faulty server may interpret some of them as `id`, so
 * `id` must be an id that only this check uses.
 */
export function invalidIds(id: bigint): string[] {
  const hex = id.toString(16);
  const digits = [`${id}.0`, `${id}e0`, `+${id}`, `0x${hex}`, `${id}x`, `%20${id}`, `${id}%20`, `${id}%2F${id}`];
  const eastern = Array.from(String(id), (digit) => encodeURIComponent(String.fromCodePoint(0x660 + Number(digit))));
  return ['x', '-', '%20', '%zz', ...digits, eastern.join(''), `${id}`.repeat(100)];
}

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

/** Returns a NewPlant for each of the ids, which are JSON values. */
function withIds(ids: readonly string[], name: string): string[] {
  return ids.map((id) => `{"id":${id},"name":"${name}"}`);
}

/** Returns a NewPlant for each of the names, which are JSON values. */
function withNames(id: bigint, names: readonly string[]): string[] {
  return names.map((name) => `{"id":${id},"name":${name}}`);
}

/** Returns a NewPlant for each of the tags, which are JSON values. */
function withTags(id: bigint, name: string, tags: readonly string[]): string[] {
  return tags.map((tag) => `{"id":${id},"name":"${name}","tag":${tag}}`);
}

/** A way in which a NewPlant can be invalid. */
export type Defect =
  'notAnObject' | 'missingId' | 'missingName' | 'idType' | 'idFraction' | 'nameType' | 'tagType' | 'text';

/**
 * For each way in which a NewPlant can be invalid, a function that returns such bodies, which are JSON. `id` must be an
 * id that only this check uses. `name` must not contain characters that JSON escapes.
 */
const invalidPlants: Readonly<Record<Defect, (id: bigint, name: string) => string[]>> = {
  notAnObject: (_, name) => ['null', '[]', `"${name}"`, '1', 'true', `["id","name"]`],
  missingId: (_, name) => [
    `{"name":"${name}"}`,
    '{}',
    `{"ID":1,"name":"${name}"}`,
    `{"__proto__":{"id":1,"name":"x"}}`,
  ],
  missingName: (id) => [`{"id":${id}}`, `{"id":${id},"tag":"x"}`, `{"id":${id},"Name":"x"}`],
  idType: (id, name) => withIds([`"${id}"`, 'null', 'true', `[${id}]`, `{"id":${id}}`, '""'], name),
  idFraction: (id, name) => withIds([`${id}.5`, `${id}.00000000000000000001`, `${id}5e-1`, `-${id}.25`], name),
  nameType: (id) => withNames(id, ['null', '2', 'true', '["x"]', '{"name":"x"}']),
  tagType: (id, name) => withTags(id, name, ['null', '2', 'false', '["x"]', '{}']),
  text: (id, name) => [
    ...withNames(id, [`"${name}\\u0000b"`]),
    ...withTags(id, name, ['"\\u0000"']),
    ...withNames(id, [`"${name}\\ud800"`, `"${name}\\udc00x"`]),
    ...withTags(id, name, ['"\\udc00\\ud800"']),
  ],
};

/** All ways in which a NewPlant can be invalid. */
export const defects: readonly Defect[] = Object.keys(invalidPlants) as Defect[];

/**
 * Sends bodies with a defect to POST /plants, and yields the exchanges. A faulty server may store a plant with an id
 * near `id`, so plants with these ids are deleted after the check.
 */
export async function* postInvalid(client: CheckClient, id: bigint, defect: Defect): AsyncGenerator<Exchange> {
  for (const body of invalidPlants[defect](id, client.newName())) yield client.a.post(body, id, id + 1n, -id, -id - 1n);
}
