import { must } from '../check-case.ts';
import type { CheckCase } from '../check-case.ts';
import { parseChallenge } from '../challenge.ts';
import { expect, expectError, expectList, expectStatus } from '../expect.ts';

const source = 'RFC 6750 §3.1';

/** Checks of requests with a token that has only the scope `plants:read`. */
export const scopeCases: readonly CheckCase[] = [
  must('scope-read', 'let a read-only token list plants', source, async (client) => {
    const listed = await client.readOnly().list();
    expectStatus(listed, 200);
    expectList(listed);
  }),
  must(
    'scope-create',
    'respond to POST /plants with a read-only token with 403, and store nothing',
    source,
    async (client) => {
      const plant = client.newPlant();
      // The user of the read-only token is unknown and may be user A.
      client.a.track([plant.id]);
      expectError(await client.readOnly().create(plant), 403);
      expectError(await client.a.remove(plant.id), 404);
    },
  ),
  must('scope-delete', 'respond to DELETE /plants/{id} with a read-only token with 403', source, async (client) => {
    const plant = client.newPlant();
    await client.a.mustCreate(plant);
    expectError(await client.readOnly().remove(plant.id), 403);
    const { plants, exchange } = await client.a.listMarked(client.marker);
    expect(plants.length === 1, exchange, `the plant ${plant.name}`);
  }),
  must(
    'scope-challenge',
    'send error="insufficient_scope" and the missing scope with a 403',
    source,
    async (client) => {
      const refused = await client.readOnly().create(client.newPlant());
      const { scheme, parameters } = parseChallenge(refused.response.headers.get('www-authenticate') ?? '');
      const isRight =
        scheme === 'bearer' &&
        parameters.get('realm') === 'plants' &&
        parameters.get('error') === 'insufficient_scope' &&
        parameters.get('scope') === 'plants:write';
      expect(
        isRight,
        refused,
        'WWW-Authenticate: Bearer realm="plants", error="insufficient_scope", scope="plants:write"',
      );
    },
  ),
];
