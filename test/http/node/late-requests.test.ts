import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { heldStorage } from '../../support/held-storage.ts';
import { parseRawAnswers, RawConnection } from '../../support/raw-http.ts';
import { head, post, start } from '../../support/raw-service.ts';

const list = `GET /plants HTTP/1.1\r\n${head}\r\n`;
const create = (id: number): string => post(`{"id":${id},"name":"plant ${id}"}`);

describe('Pipelined requests whose time is up while they wait', () => {
  it('are not refused as too late if the server did not read them', async (t) => {
    const { storage, release, committing } = heldStorage();
    const { server, port } = await start(t, storage);
    server.headersTimeout = 100;
    server.requestTimeout = 100;
    const connection = await RawConnection.open(t, port);
    connection.send(create(1) + list + 'GET /pla');
    await committing;
    connection.send(`nts HTTP/1.1\r\n${head}Connection: close\r\n\r\n`);
    await new Promise((resolve) => setTimeout(resolve, 2500));
    release();
    assert.deepEqual(
      parseRawAnswers(await connection.untilClosed()).map(({ status }) => status),
      [200, 200, 200],
    );
  });

  it('are refused as too late if the rest does not arrive after the requests before them', async (t) => {
    const { storage, release, committing } = heldStorage();
    const { server, port } = await start(t, storage);
    server.headersTimeout = 100;
    server.requestTimeout = 100;
    for (const [incomplete, requestTimeout] of [
      [post('{"id":2', 100), 100],
      ['GET /pla', 100],
      ['GET /pla', 0],
    ] as const) {
      server.requestTimeout = requestTimeout;
      const connection = await RawConnection.open(t, port);
      connection.send(create(1) + incomplete);
      await committing;
      // Longer than the second in which node:http looks at its connections.
      await new Promise((resolve) => setTimeout(resolve, 1500));
      release();
      const answers = parseRawAnswers(await connection.untilClosed());
      assert.equal(answers.at(-1)?.status, 408);
    }
  });

  it('keep their connection if the rest arrives in time after the requests before them', async (t) => {
    const { storage, release, committing } = heldStorage();
    const { server, port } = await start(t, storage);
    server.headersTimeout = 100;
    server.requestTimeout = 100;
    const body = '{"id":2,"name":"Fern"}';
    const connection = await RawConnection.open(t, port);
    connection.send(create(1) + post(body.slice(0, 5), body.length));
    await committing;
    await new Promise((resolve) => setTimeout(resolve, 1500));
    connection.send(body.slice(5));
    release();
    await connection.until(/(?:HTTP[^]*){2}\}$/);
    await new Promise((resolve) => setTimeout(resolve, 500));
    connection.send(list);
    assert.match(await connection.until(/(?:HTTP[^]*){3}\]$/), /\[\{"name":"plant 1"\},\{"name":"Fern"\}\]$/);
  });
});
