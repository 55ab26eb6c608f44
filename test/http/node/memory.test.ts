import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../support/eventually.ts';
import { listRequest, RawConnection } from '../../support/raw-http.ts';
import { evalArgs } from '../../support/run-program.ts';
import { untilListening } from '../../support/server-process.ts';
import { sourceUrl } from '../../support/sources.ts';
import type { HasAfter } from '../../support/temporary-folder.ts';

const connections = 60;

/** Prints how many bytes the heap and the external memory have grown when it reads from standard input. */
const server = `
  import { PlantStore, MemoryStorage } from '${sourceUrl('index.ts')}';
  import { createPlantServer } from '${sourceUrl('http.ts')}';
  const store = new PlantStore({ storage: new MemoryStorage(), maxCacheBytes: 0 });
  // One character above U+00FF makes each character of a string two bytes long.
  const plants = Number(process.env.PLANTS);
  for (let id = 0; id < plants; id++) {
    await store.createPlant('ada', { id, name: 'x'.repeat(50_000) + '\\u0100' });
  }
  const server = createPlantServer(store, { authenticate: () => ({ user: 'ada' }) });
  server.listen(0, '127.0.0.1', () => console.log('port ' + server.address().port));
  gc();
  const before = process.memoryUsage();
  process.stdin.on('data', () => {
    gc();
    const { heapUsed, external } = process.memoryUsage();
    console.log('grown by ' + (heapUsed - before.heapUsed) + ' and ' + (external - before.external));
  });`;

/** Starts a server with some plants of 100 KB, opens connections, and returns the growth for each connection. */
async function grownBytes(
  t: HasAfter,
  plants: number,
  use: (connection: RawConnection) => Promise<unknown> | undefined,
): Promise<{ heap: number; external: number }> {
  const env = { ...process.env, PLANTS: `${plants}` };
  const child = spawn(process.execPath, ['--expose-gc', ...evalArgs(server)], { env });
  const { port, stdout, stderr } = await untilListening(t, child, /port (\d+)/);
  for (let n = 0; n < connections; n++) await use(await RawConnection.open(t, port));
  await sleep(2000);
  child.stdin.write('measure');
  await eventually(() => {
    assert.match(stdout(), /grown by .* and .*\n/, stderr());
  }, 30_000);
  const [, heap, external] = /grown by (-?\d+) and (-?\d+)/.exec(stdout()) ?? [];
  return { heap: Number(heap) / connections, external: Number(external) / connections };
}

describe('the memory of a connection', { concurrency: true }, () => {
  it('is small while its header is incomplete, even if the header consists of thousands of fields', async (t) => {
    const header = `GET /plants HTTP/1.1\r\nHost: x\r\n${'ab:cd\r\n'.repeat(2000)}`;
    const { heap, external } = await grownBytes(t, 0, (connection) => {
      connection.send(header);
      return undefined;
    });
    // Without a maximum number of fields, each connection would use over 150 KB.
    assert.ok(heap + external < 60_000, `${heap} and ${external} bytes`);
  });

  it('is freed when the client has read the response, even if the connection stays open', async (t) => {
    const { heap, external } = await grownBytes(t, 5, async ({ socket }) => {
      socket.write(listRequest);
      while (socket.bytesRead < 250_000) await once(socket, 'data');
    });
    // A page takes 500 KB.
    assert.ok(heap + external < 60_000, `${heap} and ${external} bytes`);
  });

  it('is outside the heap while the client does not read', async (t) => {
    // The list takes 10 MB, which the socket buffers cannot hold.
    const { heap } = await grownBytes(t, 200, ({ socket }) => {
      socket.pause().write(listRequest);
      return undefined;
    });
    assert.ok(heap < 60_000, `${heap} bytes`);
  });
});
