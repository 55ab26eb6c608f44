import { must, plantStore } from '../check-case.ts';
import type { CheckCase } from '../check-case.ts';
import type { CheckClient } from '../check-client.ts';
import { expect, expectError, expectStatus } from '../expect.ts';

const source = plantStore('create failures');

/**
 * Returns bodies that are JSON but not a valid NewPlant. `id` must be an id that only this check uses. `name` must not
 * contain characters that JSON escapes.
 */
export type InvalidPlants = (id: bigint, name: string) => readonly string[];

/** The ways in which a NewPlant can be invalid. */
type Defect =
  | 'notAnObject'
  | 'missingId'
  | 'missingName'
  | 'idOfAnotherType'
  | 'fraction'
  | 'nameOfAnotherType'
  | 'tagOfAnotherType'
  | 'unstorableText';

/** For each defect, a function that returns bodies with this defect. */
export const invalidPlants: Readonly<Record<Defect, InvalidPlants>> = {
  notAnObject: (_, name) => ['null', '[]', `"${name}"`, '1', 'true', `["id","name"]`],
  missingId: (_, name) => [
    `{"name":"${name}"}`,
    '{}',
    `{"ID":1,"name":"${name}"}`,
    `{"__proto__":{"id":1,"name":"x"}}`,
  ],
  missingName: (id) => [`{"id":${id}}`, `{"id":${id},"tag":"x"}`, `{"id":${id},"Name":"x"}`],
  idOfAnotherType: (id, name) =>
    [`"${id}"`, 'null', 'true', `[${id}]`, `{"id":${id}}`, '""'].map((value) => `{"id":${value},"name":"${name}"}`),
  fraction: (id, name) =>
    [`${id}.5`, `${id}.00000000000000000001`, `${id}5e-1`, `-${id}.25`].map(
      (value) => `{"id":${value},"name":"${name}"}`,
    ),
  nameOfAnotherType: (id) =>
    ['null', '2', 'true', '["x"]', '{"name":"x"}'].map((value) => `{"id":${id},"name":${value}}`),
  tagOfAnotherType: (id, name) =>
    ['null', '2', 'false', '["x"]', '{}'].map((value) => `{"id":${id},"name":"${name}","tag":${value}}`),
  unstorableText: (id, name) => [
    `{"id":${id},"name":"${name}\\u0000b"}`,
    `{"id":${id},"name":"${name}","tag":"\\u0000"}`,
    `{"id":${id},"name":"${name}\\ud800"}`,
    `{"id":${id},"name":"${name}\\udc00x"}`,
    `{"id":${id},"name":"${name}","tag":"\\udc00\\ud800"}`,
  ],
};

/**
 * Sends invalid bodies. Checks that the server refuses all of them and stores nothing. A faulty server may store a
 * plant with an id near `id`, so plants with these ids are deleted after the check.
 */
async function expectRefused(client: CheckClient, bodiesOf: InvalidPlants): Promise<void> {
  const id = client.newId(2);
  for (const body of bodiesOf(id, client.newName())) {
    expectError(await client.a.post(body, [id, id + 1n, -id, -id - 1n]), 400);
  }
  const { plants, exchange } = await client.a.listMarked(client.marker);
  expect(plants.length === 0, exchange, 'no plant of a refused request');
  expectStatus(await client.a.remove(id), 404);
}

function refuses(id: string, what: string, bodiesOf: InvalidPlants, from = source): CheckCase {
  return must(id, `respond with 400 to ${what}, and store nothing`, from, (client) => expectRefused(client, bodiesOf));
}

/** Checks of POST /plants with a body that is JSON but not a valid NewPlant. */
export const invalidPlantCases: readonly CheckCase[] = [
  refuses('invalid-not-an-object', 'a body that is not a JSON object', invalidPlants.notAnObject),
  refuses('invalid-missing-id', 'a NewPlant without an id', invalidPlants.missingId, plantStore('NewPlant')),
  refuses('invalid-missing-name', 'a NewPlant without a name', invalidPlants.missingName, plantStore('NewPlant')),
  refuses('invalid-id-type', 'a NewPlant whose id is not a number', invalidPlants.idOfAnotherType, plantStore('int64')),
  refuses('invalid-id-fraction', 'a NewPlant whose id is not integral', invalidPlants.fraction, plantStore('int64')),
  refuses('invalid-name-type', 'a NewPlant whose name is not a string', invalidPlants.nameOfAnotherType),
  refuses('invalid-tag-type', 'a NewPlant whose tag is not a string', invalidPlants.tagOfAnotherType),
  refuses(
    'invalid-text',
    'U+0000 and unpaired surrogates in strings',
    invalidPlants.unstorableText,
    plantStore('name, tag'),
  ),
];
