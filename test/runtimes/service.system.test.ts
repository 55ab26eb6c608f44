import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { createRequest, listRequest, parseRawAnswers, RawConnection } from '../support/raw-http.ts';
import { untilListening } from '../support/server-process.ts';
import { root } from '../support/sources.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { findProgram } from '../support/installed-program.ts';
import { runtimes } from './runtimes.ts';

const example = join(root, 'examples/serve-sqlite.ts');

describe('service over SQLite', () => {
  for (const { name, path, args } of runtimes) {
    it(`responds to pipelined requests in order under ${name}, and stops on SIGTERM`, async (t) => {
      const runtime = findProgram(t, 'runtimes', path);
      if (runtime === undefined) return;
      const child = spawn(runtime, [...args, example, join(await temporaryFolder(t), 'plants.db')], {
        env: { ...process.env, NODE_V8_COVERAGE: '', PORT: '0', ADAS_TOKEN: 'ada' },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const server = await untilListening(t, child, /port: (\d+)/);
      const connection = await RawConnection.open(t, server.port);
      connection.send(createRequest(1));
      await connection.until(/\{"name":"plant 1"\}$/);
      connection.send(listRequest);
      await connection.until(/\[\{"name":"plant 1"\}\]$/);
      connection.send(createRequest(2) + listRequest + createRequest(3) + listRequest);
      const answers = parseRawAnswers(await connection.until(/plant 2"\},\{"name":"plant 3"\}\]$/));
      const [one, two, three] = [1, 2, 3].map((id) => ({ name: `plant ${id}` }));
      assert.deepEqual(
        answers.map(({ json }) => json),
        [one, [one], two, [one, two], three, [one, two, three]],
      );
      assert.equal(await server.stop(), 0);
    });
  }
});
