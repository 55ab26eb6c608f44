import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { logFormats } from '../../../../../src/tools/cli/output/log.ts';
import { issueToken } from '../../../../../src/tokens/issue.ts';
import { startServer } from '../../../../support/command-line.ts';
import { eventually } from '../../../../support/eventually.ts';
import { RawConnection } from '../../../../support/raw-http.ts';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';

/** Request lines with secrets in the wrong places, and the method and route that the log shows. */
function requestLines(token: string): [line: string, method: string, route: string][] {
  return [
    ['GET http://ada:sesame@localhost/plants HTTP/1.1', 'GET', '/plants'],
    [`GET http://${token}@localhost/plants?token=${token} HTTP/1.1`, 'GET', '/plants'],
    [`DELETE /plants/${token} HTTP/1.1`, 'DELETE', '/plants/{id}'],
    [`DELETE /plants/1;token=${token} HTTP/1.1`, 'DELETE', '/plants/{id}'],
    ['HEAD /openapi.json?sesame HTTP/1.1', 'HEAD', '/openapi.json'],
    ['GET /plants;token=sesame HTTP/1.1', 'GET', ''],
    [`POST /${token}/plants HTTP/1.1`, 'POST', ''],
    [`GET //ada:sesame@localhost/plants HTTP/1.1`, 'GET', ''],
    ['OPTIONS * HTTP/1.1', 'OPTIONS', ''],
    ['MKCALENDAR /plants HTTP/1.1', 'other', '/plants'],
  ];
}

/** Request lines that node:http rejects, or that this server does not log as requests. */
const otherLines = (token: string): string[] => [
  `CONNECT ${token}:443 HTTP/1.1`,
  `SESAME /plants/${token} HTTP/1.1`,
  `GET /plants/${token} HTTP/9.9`,
  `GET sesame://${token}/plants HTTP/1.1`,
];

describe('log of plant-store serve, for requests with secrets', { concurrency: 3 }, () => {
  for (const format of logFormats) {
    it(`contains no secret with --log ${format}`, async (t) => {
      const cwd = await temporaryFolder(t);
      const { token } = issueToken(join(cwd, 'tokens.json'), { user: 'ada' });
      const server = await startServer(t, ['--storage', 'memory', '--log', format], { cwd });
      const send = async (line: string): Promise<void> => {
        const connection = await RawConnection.open(t, server.port);
        connection.send(`${line}\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
        await connection.untilClosed();
      };
      const lines = requestLines(token);
      for (const [line] of lines) await send(line);
      const logged = (): string[] => server.stderr().split('\n').slice(0, -1);
      if (format !== 'off') {
        await eventually(() => {
          assert.equal(logged().length, lines.length, server.stderr());
        });
      }
      const found = logged().map((line) => (format === 'json' ? fromJson(line) : fromPretty(line)));
      assert.deepEqual(found, format === 'off' ? [] : lines.map(([, method, route]) => [method, route]));

      for (const line of otherLines(token)) await send(line);
      assert.equal(await server.stop(), 0);
      const stderr = server.stderr();
      for (const secret of ['sesame', 'SESAME', 'pst_', token.slice(4, 20)]) {
        assert.ok(!stderr.includes(secret), stderr);
      }
    });
  }
});

function fromJson(line: string): unknown[] {
  const { method, path } = JSON.parse(line) as Record<string, unknown>;
  return [method, path];
}

function fromPretty(line: string): unknown[] {
  const pattern = /^[\d:]{8} (\w+) (\S+|\(no route\)) \d{3} (?:\w+ )?[\d.]+ ms [\w-]+$/;
  const [, method, route] = pattern.exec(line) ?? [];
  return [method, route === '(no route)' ? '' : route];
}
