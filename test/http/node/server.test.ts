import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createPlantServer } from '../../../src/http.ts';
import { connectionLimit } from '../../../src/http/node/connections.ts';
import { MemoryStorage, PlantStore } from '../../../src/index.ts';
import { readDocument } from '../../support/documents.ts';

it('the limits of a server are listed in docs/http-api.md', async () => {
  const page = await readDocument('docs/http-api.md');
  const server = createPlantServer(new PlantStore({ storage: new MemoryStorage() }), { authenticate: () => null });
  // The default is lower if this process can open only a few files.
  assert.equal(server.maxConnections, connectionLimit());
  server.maxConnections = connectionLimit(Infinity);
  // 64 files are reserved for the rest of the process.
  assert.deepEqual([connectionLimit(1024), connectionLimit(64)], [960, 8]);
  const timeouts = ['headersTimeout', 'requestTimeout', 'keepAliveTimeout', 'timeout'] as const;
  for (const property of [...timeouts, 'maxConnections'] as const) {
    const [, given = '', unit] =
      new RegExp(`^\\| [^|]+ \\| ([\\d,]+)( s)? +\\| \`server\\.${property}\``, 'm').exec(page) ?? [];
    assert.equal(server[property], Number(given.replace(',', '')) * (unit === undefined ? 1 : 1000), property);
  }
});
