import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parseRawAnswers, RawConnection } from '../support/raw-http.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { findProgram } from '../support/installed-program.ts';

const example = fileURLToPath(new URL('../../examples/serve-sqlite.ts', import.meta.url));
const head = 'Host: x\r\nAuthorization: Bearer secret\r\n';
const list = `GET /plants HTTP/1.1\r\n${head}\r\n`;
const create = (id: number): string => {
  const body = `{"id":${id},"name":"Fern ${id}"}`;
  return `POST /plants HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
};

const runtimes = [
  { name: 'Deno', program: '.bin/deno', args: ['run', '--allow-all'] },
  { name: 'Bun', program: '.bin/bun', args: [] },
];

describe('the service over SQLite', () => {
  for (const { name, program, args } of runtimes) {
    it(`answers all requests of a connection in order under ${name}, and stops on SIGTERM`, async (t) => {
      const path = findProgram(t, 'runtimes', program);
      if (path === undefined) return;
      const child = spawn(path, [...args, example, join(await temporaryFolder(t), 'plants.db')], {
        env: { ...process.env, NODE_V8_COVERAGE: '', PORT: '0', ADAS_TOKEN: 'secret' },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      t.after(() => {
        child.kill('SIGKILL');
      });
      let stdout = '';
      for await (const chunk of child.stdout
        .setEncoding('utf8')
        .iterator({ destroyOnReturn: false }) as AsyncIterable<string>) {
        stdout += chunk;
        if (/port: \d+/.test(stdout)) break;
      }
      const connection = await RawConnection.open(t, Number(/port: (\d+)/.exec(stdout)?.[1]));
      connection.send(create(1));
      await connection.until(/\{"name":"Fern 1"\}$/);
      connection.send(list);
      await connection.until(/\[\{"name":"Fern 1"\}\]$/);
      connection.send(create(2) + list + create(3) + list);
      const answers = parseRawAnswers(await connection.until(/Fern 2"\},\{"name":"Fern 3"\}\]$/));
      const [one, two, three] = [1, 2, 3].map((id) => ({ name: `Fern ${id}` }));
      assert.deepEqual(
        answers.map(({ json }) => json),
        [one, [one], two, [one, two], three, [one, two, three]],
      );
      child.kill('SIGTERM');
      assert.deepEqual(await once(child, 'exit'), [0, null]);
    });
  }
});
