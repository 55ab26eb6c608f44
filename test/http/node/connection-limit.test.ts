import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { connectionLimit } from '../../../src/http/node/connection-limit.ts';
import { hasProgram } from '../../support/system-fault.ts';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { eventually } from '../../support/eventually.ts';
import { head, listRequest, RawConnection } from '../../support/raw-http.ts';
import { startService } from '../../support/service.ts';

const script = `
  const { MemoryStorage, PlantStore } = await import('./src/index.ts');
  const { createPlantServer } = await import('./src/http.ts');
  const server = createPlantServer(new PlantStore({ storage: new MemoryStorage() }), { authenticate: () => null });
  process.stdout.write(String(server.maxConnections));
`;

/** Returns the default of `maxConnections` in a process that may open this many files. */
function defaultUnder(maxOpenFiles: number): number {
  const node = [process.execPath, '--import', 'tsx', '--input-type=module', '--eval', script];
  const cwd = new URL('../../../', import.meta.url);
  return Number(
    execFileSync('prlimit', [`--nofile=${maxOpenFiles}:${maxOpenFiles}`, ...node], { cwd, encoding: 'utf8' }),
  );
}

describe('connectionLimit', () => {
  it('reserves 64 files for the rest of the process, and returns 8 to 10,000', () => {
    const expected: [number, number][] = [
      [Infinity, 10_000],
      [1_048_576, 10_000],
      [10_064, 10_000],
      [1024, 960],
      [73, 9],
      [64, 8],
      [16, 8],
    ];
    for (const [files, connections] of expected) assert.equal(connectionLimit(files), connections, String(files));
  });

  it("is the default of a server's maxConnections", (t) => {
    if (!hasProgram(t, 'prlimit')) return;
    assert.deepEqual([64, 1024, 20_000].map(defaultUnder), [8, 960, 10_000]);
  });
});

describe('maxConnections of a server', () => {
  it('closes a new connection at once when all others are busy', async (t) => {
    const { server, port } = await startService(t);
    server.maxConnections = 2;
    const sockets: Socket[] = [];
    server.on('connection', (socket: Socket) => sockets.push(socket));
    const open = [await RawConnection.open(t, port), await RawConnection.open(t, port)];
    for (const connection of open) connection.send('GET /pla');
    await eventually(() => {
      assert.deepEqual(
        sockets.map(({ bytesRead }) => bytesRead),
        [8, 8],
      );
    });
    const dropped = once(server, 'drop');
    const third = await RawConnection.open(t, port);
    assert.equal(await third.untilClosed(), '');
    await dropped;
    for (const connection of open) {
      connection.send(`nts HTTP/1.1\r\n${head}\r\n`);
      await connection.until(/\[\]$/);
    }
  });

  it('closes an idle connection when a new client connects', async (t) => {
    const { server, port } = await startService(t);
    server.maxConnections = 1;
    const idle = await RawConnection.open(t, port);
    idle.send(listRequest);
    await idle.untilClosed();
    const next = await RawConnection.open(t, port);
    next.send(listRequest);
    await next.until(/\[\]$/);
  });
});
