import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MemoryStorage } from '../../../src/index.ts';
import { drainServer } from '../../../src/http.ts';
import { assertDescribed } from '../../support/described.ts';
import { parseRawAnswer, parseRawAnswers, RawConnection } from '../../support/raw-http.ts';
import { head, post, start } from '../../support/raw-service.ts';

function assertError(text: string, status: number, error: number): void {
  const answer = parseRawAnswer(text);
  assert.deepEqual([answer.status, (answer.json as { error: number }).error], [status, error]);
  const headers = answer.head
    .split('\r\n')
    .slice(1)
    .map((line) => line.split(': ') as [string, string]);
  assertDescribed('GET', '/plants', { status, headers: new Headers(headers), text: JSON.stringify(answer.json) });
}

describe('What node:http refuses by itself', () => {
  it('has an Error body too', async (t) => {
    const { port } = await start(t);
    const refused = [
      ['GET /plants HTTP/1.1\r\nHost x\r\n\r\n', 400, 40009],
      ['GET /plants HTTP/9.9\r\n\r\n', 400, 40009],
      ['\0\0\0\0', 400, 40009],
      ['GET /plants HTTP/1.1\r\n\r\n', 400, 40009],
      [`POST /plants HTTP/1.1\r\n${head}Transfer-Encoding: gzip, chunked\r\n\r\n`, 400, 40009],
      [`GET /plants HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431, 43100],
    ] as const;
    for (const [text, status, error] of refused) {
      const connection = await RawConnection.open(t, port);
      connection.send(text);
      assertError(await connection.untilClosed(), status, error);
    }
  });

  it('is a 408 where a request does not arrive in time', async (t) => {
    const { server, port } = await start(t);
    server.headersTimeout = 100;
    server.requestTimeout = 100;
    for (const text of ['GET /plants HTT', post('{"id":1', 100)]) {
      const connection = await RawConnection.open(t, port);
      connection.send(text);
      assertError(await connection.untilClosed(), 408, 40800);
    }
  });

  it('does not take away the answer of a good request before it', async (t) => {
    const storage = new MemoryStorage();
    const { store, port, faults } = await start(t, storage);
    await store.createPlant('ada', { id: 1, name: 'Fern' });
    const list = storage.list.bind(storage);
    const entered = Promise.withResolvers<undefined>();
    storage.list = (user, range) => {
      entered.resolve(undefined);
      return new Promise((resolve) => setTimeout(resolve, 50)).then(() => list(user, range));
    };
    const connection = await RawConnection.open(t, port);
    connection.send(`GET /plants HTTP/1.1\r\n${head}\r\n`);
    await entered.promise;
    connection.send('garbage\r\n\r\n');
    const answers = parseRawAnswers(await connection.untilClosed());
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 400],
    );
    assert.deepEqual(answers[0]?.json, [{ name: 'Fern' }]);
    assert.deepEqual(faults, []);
  });
});

describe('A client that goes away in the middle of its body', () => {
  it('is no fault, and creates nothing', async (t) => {
    const { store, server, port, faults } = await start(t);
    const connection = await RawConnection.open(t, port);
    const received = once(server, 'request');
    connection.send(post('{"id":1,"name":"Fe', 100));
    await received;
    connection.socket.resetAndDestroy();
    const other = await RawConnection.open(t, port);
    other.send('GET /pl');
    other.socket.resetAndDestroy();
    await drainServer(server, 5000);
    assert.deepEqual(await store.listPlants('ada'), []);
    assert.deepEqual(faults, []);
  });
});

describe('A body that nobody may send', () => {
  const stranger = 'POST /plants HTTP/1.1\r\nHost: x\r\n';

  it('is not read where it has no end, and gets one answer', async (t) => {
    const { port } = await start(t);
    for (const framing of [
      'Transfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\nzz\r\n',
      'Content-Length: 100000000000\r\n\r\n',
    ]) {
      const connection = await RawConnection.open(t, port);
      connection.send(stranger + framing);
      const { status, head: headers } = parseRawAnswer(await connection.untilClosed());
      assert.equal(status, 401);
      assert.match(headers, /^Connection: close\r?$/m);
    }
  });

  it('is dropped where it is short, and the connection stays', async (t) => {
    const { port } = await start(t);
    const connection = await RawConnection.open(t, port);
    connection.send(`${stranger}Content-Length: 5\r\n\r\nab`);
    await connection.until(/40101/);
    connection.send(`cdeGET /plants HTTP/1.1\r\n${head}\r\n`);
    await connection.until(/\[\]$/);
  });

  it('gets no second answer where it never comes', async (t) => {
    const { server, port } = await start(t);
    server.headersTimeout = 100;
    server.requestTimeout = 100;
    const connection = await RawConnection.open(t, port);
    connection.send(`${stranger}Content-Length: 5\r\n\r\nab`);
    assert.equal((await connection.untilClosed()).split('HTTP/1.1 ').length, 2);
  });
});

describe('A server that nobody has set up otherwise', () => {
  it('gives a request 10 seconds for its header and 30 for the whole', async (t) => {
    const { server } = await start(t);
    assert.deepEqual([server.headersTimeout, server.requestTimeout], [10_000, 30_000]);
  });
});

describe('CONNECT', () => {
  it('is answered 404', async (t) => {
    const { port } = await start(t);
    const connection = await RawConnection.open(t, port);
    connection.send('CONNECT example.com:80 HTTP/1.1\r\nHost: x\r\n\r\n');
    const { status, json } = parseRawAnswer(await connection.untilClosed());
    assert.deepEqual([status, (json as { error: number }).error], [404, 40401]);
  });
});

describe('A client that goes away while its list is read', () => {
  it('leaves nobody waiting for it', async (t) => {
    const storage = new MemoryStorage();
    const { store, server, port } = await start(t, storage);
    const name = 'x'.repeat(2000);
    await Promise.all(Array.from({ length: 5000 }, (_, id) => store.createPlant('ada', { id, name })));
    const list = storage.list.bind(storage);
    const [third, mayGoOn] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    let reads = 0;
    storage.list = async (user, range) => {
      if (range.limit > 1 && ++reads === 3) {
        third.resolve(undefined);
        await mayGoOn.promise;
      }
      return list(user, range);
    };
    const responses = once(server, 'request') as Promise<[unknown, ServerResponse]>;
    const connection = await RawConnection.open(t, port);
    connection.send(`GET /plants HTTP/1.1\r\n${head}\r\n`);
    const [, response] = await responses;
    await third.promise;
    const gone = once(response, 'close');
    connection.socket.destroy();
    await gone;
    mayGoOn.resolve(undefined);
    for (let turn = 0; turn < 10; turn++) await nextTurn();
    assert.equal(reads, 3);
    assert.equal(response.listenerCount('drain'), 0);
  });
});

describe('A body that is far too large', () => {
  it('is answered while it still comes, and then the connection is closed', async (t) => {
    const { port } = await start(t);
    const connection = await RawConnection.open(t, port);
    connection.send(post('', 1e12));
    for (let n = 0; n < 18; n++) connection.send(' '.repeat(65_536));
    const { status, json, head: headers } = parseRawAnswer(await connection.until(/\}$/));
    assert.deepEqual([status, (json as { error: number }).error], [400, 40008]);
    assert.match(headers, /^Connection: close\r?$/m);
    await connection.untilClosed();
  });
});
