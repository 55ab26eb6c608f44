import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { heldStorage } from '../../support/held-storage.ts';
import { createRequest, head, listRequest, parseRawAnswers, post, RawConnection } from '../../support/raw-http.ts';
import { startService } from '../../support/service.ts';

describe('pipelined requests that time out while they wait', () => {
  it('get no 408 if the server has not read them', async (t) => {
    const { storage, release, committing } = heldStorage();
    const { server, port } = await startService(t, { storage });
    server.headersTimeout = 100;
    server.requestTimeout = 100;
    const connection = await RawConnection.open(t, port);
    connection.send(createRequest(1) + listRequest + 'GET /pla');
    await committing;
    connection.send(`nts HTTP/1.1\r\n${head}Connection: close\r\n\r\n`);
    await new Promise((resolve) => setTimeout(resolve, 2500));
    release();
    assert.deepEqual(
      parseRawAnswers(await connection.untilClosed()).map(({ status }) => status),
      [200, 200, 200],
    );
  });

  it('get 408 if the rest does not arrive in time after the earlier requests', async (t) => {
    const { storage, release, committing } = heldStorage();
    const { server, port } = await startService(t, { storage });
    server.headersTimeout = 100;
    server.requestTimeout = 100;
    for (const [incomplete, requestTimeout] of [
      [post('{"id":2', 100), 100],
      ['GET /pla', 100],
      ['GET /pla', 0],
    ] as const) {
      server.requestTimeout = requestTimeout;
      const connection = await RawConnection.open(t, port);
      connection.send(createRequest(1) + incomplete);
      await committing;
      // Longer than the interval in which node:http checks for timeouts.
      await new Promise((resolve) => setTimeout(resolve, 1500));
      release();
      const answers = parseRawAnswers(await connection.untilClosed());
      assert.equal(answers.at(-1)?.status, 408);
    }
  });

  it('keep their connection open if the rest arrives in time after the earlier requests', async (t) => {
    const { storage, release, committing } = heldStorage();
    const { server, port } = await startService(t, { storage });
    server.headersTimeout = 100;
    server.requestTimeout = 100;
    const body = '{"id":2,"name":"Fern"}';
    const connection = await RawConnection.open(t, port);
    connection.send(createRequest(1) + post(body.slice(0, 5), body.length));
    await committing;
    await new Promise((resolve) => setTimeout(resolve, 1500));
    connection.send(body.slice(5));
    release();
    await connection.until(/(?:HTTP[^]*){2}\}$/);
    await new Promise((resolve) => setTimeout(resolve, 500));
    connection.send(listRequest);
    assert.match(await connection.until(/(?:HTTP[^]*){3}\]$/), /\[\{"name":"plant 1"\},\{"name":"Fern"\}\]$/);
  });
});
