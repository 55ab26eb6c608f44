import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../support/eventually.ts';
import { listRequest, RawConnection } from '../../support/raw-http.ts';
import { evalArgs } from '../../support/run-program.ts';
import { untilListening } from '../../support/server-process.ts';
import { sourceUrl } from '../../support/sources.ts';

const connections = 60;

/**
 * A list of ada takes 250 KB in UTF-8, one of bob 10 MB. Prints the memory in use when it reads from standard input.
 */
const server = `
  import { PlantStore, MemoryStorage } from '${sourceUrl('index.ts')}';
  import { createPlantServer } from '${sourceUrl('http.ts')}';
  const store = new PlantStore({ storage: new MemoryStorage(), maxCacheBytes: 0 });
  // One character above U+00FF makes each character of a string two bytes long.
  const name = 'x'.repeat(50_000) + '\\u0100';
  for (let id = 0; id < 5; id++) await store.createPlant('ada', { id, name });
  for (let id = 0; id < 200; id++) await store.createPlant('bob', { id, name });
  const server = createPlantServer(store, { authenticate: (user) => ({ user }) });
  // The server would close connections while the test waits.
  Object.assign(server, { headersTimeout: 0, requestTimeout: 0 });
  server.listen(0, '127.0.0.1', () => console.log('port ' + server.address().port));
  process.stdin.on('data', () => {
    gc();
    console.log(JSON.stringify(process.memoryUsage()));
  });`;

it('a connection uses less than 60 KB, and keeps unsent pages outside the heap', async (t) => {
  const child = spawn(process.execPath, ['--expose-gc', ...evalArgs(server)]);
  const { port } = await untilListening(t, child, /port (\d+)/);
  const lines = createInterface(child.stdout);
  const measure = async (): Promise<NodeJS.MemoryUsage> => {
    const printed = once(lines, 'line');
    child.stdin.write('\n');
    return JSON.parse(String(await printed)) as NodeJS.MemoryUsage;
  };
  /** Opens connections, and asserts how much the memory grows for each of them. */
  const assertGrowth = async (
    use: (connection: RawConnection) => unknown,
    isExpected: (heap: number, external: number) => boolean,
  ): Promise<void> => {
    const before = await measure();
    for (let n = 0; n < connections; n++) await use(await RawConnection.open(t, port));
    await sleep(1000);
    await eventually(async () => {
      const after = await measure();
      const heap = (after.heapUsed - before.heapUsed) / connections;
      const external = (after.external - before.external) / connections;
      assert.ok(isExpected(heap, external), `${heap} bytes in the heap, ${external} bytes outside`);
    }, 30_000);
  };

  // Without a maximum number of fields, these short fields would use several times as much memory.
  const header = `GET /plants HTTP/1.1\r\nHost: x\r\n${'ab:cd\r\n'.repeat(2000)}`;
  await assertGrowth(
    ({ socket }) => socket.write(header),
    (heap, external) => heap + external < 60_000,
  );

  // The client reads its response, which takes 500 KB as a string.
  await assertGrowth(
    async ({ socket }) => {
      socket.write(listRequest);
      while (socket.bytesRead < 250_000) await once(socket, 'data');
    },
    (heap, external) => heap + external < 60_000,
  );

  // The client reads nothing. The server keeps the unsent part of a page.
  await assertGrowth(
    ({ socket }) => socket.pause().write(listRequest.replace('ada', 'bob')),
    (heap, external) => heap < 60_000 && external > 100_000,
  );
});
