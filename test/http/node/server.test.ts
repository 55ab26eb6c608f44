import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { describe, it } from 'node:test';
import { MemoryStorage, PlantStore } from '../../../src/index.ts';
import { createPlantServer } from '../../../src/http.ts';
import { RawConnection } from '../../support/raw-http.ts';
import { connectionLimit } from '../../../src/http/node/connections.ts';
import { readDocument } from '../../support/documents.ts';
import { eventually } from '../../support/eventually.ts';
import { evalArgs } from '../../support/run-program.ts';
import { untilListening } from '../../support/server-process.ts';
import { sourceUrl } from '../../support/sources.ts';

describe('an incomplete request header', () => {
  it('uses little memory, even if it consists of thousands of fields', async (t) => {
    const [connections, headerBytes] = [600, 16_000];
    const code = `
      import { PlantStore, MemoryStorage } from '${sourceUrl('index.ts')}';
      import { createPlantServer } from '${sourceUrl('http.ts')}';
      const server = createPlantServer(new PlantStore({ storage: new MemoryStorage() }), { authenticate: () => null });
      const sockets = [];
      server.on('connection', (socket) => sockets.push(socket));
      server.listen(0, '127.0.0.1', () => console.log('port ' + server.address().port));
      gc();
      const { heapUsed } = process.memoryUsage();
      const timer = setInterval(() => {
        const read = sockets.filter((socket) => socket.destroyed || socket.bytesRead === ${headerBytes});
        if (read.length < ${connections}) return;
        clearInterval(timer);
        gc();
        console.log('grown by ' + (process.memoryUsage().heapUsed - heapUsed));
      }, 20);`;
    const flags = ['--expose-gc', '--max-old-space-size=96', ...evalArgs(code)];
    const server = await untilListening(t, spawn(process.execPath, flags), /port (\d+)/);
    const header = `GET /plants HTTP/1.1\r\nHost: x\r\n${'ab:cd\r\n'.repeat(headerBytes)}`.slice(0, headerBytes);
    const opened = Array.from({ length: connections }, () => RawConnection.open(t, server.port));
    for (const connection of await Promise.all(opened)) connection.send(header);
    await eventually(() => {
      assert.match(server.stdout(), /grown by/, server.stderr());
    }, 30_000);
    // Without a maximum number of fields, each connection would use over 150 KB.
    const grownBytes = Number(/grown by (-?\d+)/.exec(server.stdout())?.[1]);
    assert.ok(grownBytes < connections * 50_000, `${grownBytes} bytes`);
  });
});

describe('limits of a server', () => {
  it('are listed in docs/http-api.md', async () => {
    const page = await readDocument('docs/http-api.md');
    const server = createPlantServer(new PlantStore({ storage: new MemoryStorage() }), { authenticate: () => null });
    // The default is lower if this process can open only a few files.
    assert.equal(server.maxConnections, connectionLimit());
    server.maxConnections = connectionLimit(Infinity);
    const timeouts = ['headersTimeout', 'requestTimeout', 'keepAliveTimeout', 'timeout'] as const;
    for (const property of [...timeouts, 'maxConnections'] as const) {
      const [, given = '', unit] =
        new RegExp(`^\\| [^|]+ \\| ([\\d,]+)( s)? +\\| \`server\\.${property}\``, 'm').exec(page) ?? [];
      assert.equal(server[property], Number(given.replace(',', '')) * (unit === undefined ? 1 : 1000), property);
    }
  });
});
