import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { findProgram } from '../support/installed-program.ts';
import { createRequest, listRequest, parseRawAnswers, RawConnection } from '../support/raw-http.ts';
import { runSuccessfully } from '../support/run-program.ts';
import { untilListening } from '../support/server-process.ts';
import { root } from '../support/sources.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** The runtimes besides Node.js that `test/runtimes` installs, with the arguments that precede a program file. */
const runtimes = [['deno', 'run', '--allow-all'], ['bun']] as const;

const program = `
  import { PlantStore } from '${join(root, 'dist/index.js')}';
  import { SqliteStorage } from '${join(root, 'dist/sqlite.js')}';
  const store = new PlantStore({ storage: new SqliteStorage('plants.db', { commitThread: true }) });
  await store.createPlant('ada', { id: 1, name: 'Fern' });
  console.log((await store.listPlants('ada')).length);
  const pending = store.createPlant('ada', { id: 2, name: 'Moss' });
  await store.close();
  console.log((await pending).name);
`;
const env = { ...process.env, NODE_V8_COVERAGE: '' };

for (const [name, ...args] of runtimes) {
  describe(name, () => {
    it('commits in a thread, and closes the store', async (t) => {
      const runtime = findProgram(t, 'runtimes', `.bin/${name}`);
      if (runtime === undefined) return;
      const cwd = await temporaryFolder(t);
      await writeFile(join(cwd, 'program.mjs'), program);
      assert.equal(await runSuccessfully(runtime, [...args, 'program.mjs'], { cwd, env }), '1\nMoss\n');
    });

    it('responds to pipelined requests in order, and stops on SIGTERM', async (t) => {
      const runtime = findProgram(t, 'runtimes', `.bin/${name}`);
      if (runtime === undefined) return;
      const example = [join(root, 'examples/serve-sqlite.ts'), join(await temporaryFolder(t), 'plants.db')];
      const child = spawn(runtime, [...args, ...example], {
        env: { ...env, PORT: '0', ADAS_TOKEN: 'ada' },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const server = await untilListening(t, child, /port: (\d+)/);
      const connection = await RawConnection.open(t, server.port);
      connection.send(createRequest(1) + listRequest + createRequest(2) + listRequest);
      const answers = parseRawAnswers(await connection.until(/\[\{"name":"plant 1"\},\{"name":"plant 2"\}\]$/));
      const [one, two] = [1, 2].map((id) => ({ name: `plant ${id}` }));
      assert.deepEqual(
        answers.map(({ json }) => json),
        [one, [one], two, [one, two]],
      );
      assert.equal(await server.stop(), 0);
    });
  });
}
