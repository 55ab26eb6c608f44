import { expect, expectJson, expectStatus } from '../expect.ts';
import type { Checks } from '../expect.ts';

/** What the document must contain. */
const contents = {
  version: /"openapi":"3\.1\.0"/,
  title: /"title":"OpenAPI Plant Store"/,
  'the paths': /"\/plants":.*"\/plants\/\{id\}":/s,
  'bearer authentication': /"type":"http","scheme":"bearer"|"scheme":"bearer","type":"http"/,
  'int64 ids': /"id":\{[^}]*"format":"int64"/,
};

export const openApiChecks: Checks = {
  'openapi MUST describe the operations, the authentication and int64 ids without credentials': async ({
    anonymous,
  }) => {
    const exchange = await expectStatus(anonymous.send('GET /openapi.json'), 200);
    const document = JSON.stringify(expectJson(exchange));
    for (const [what, pattern] of Object.entries(contents)) expect(pattern.test(document), exchange, what);
  },
};
