import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { readJsonBody } from '../../src/http/request-body.ts';
import { RawConnection } from '../helpers/raw-http.ts';
import { post } from '../helpers/raw-service.ts';

describe('readJsonBody', () => {
  it('rejects where the client goes away in the middle, so that nobody waits for the rest', async (t) => {
    const outcome = Promise.withResolvers<unknown>();
    const server = createServer((request) => {
      readJsonBody(request, { maxBodyBytes: 1000, maxBodyDepth: 10 }).then(outcome.resolve, outcome.reject);
      connection.socket.resetAndDestroy();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => { server.close(); });
    const connection = await RawConnection.open(t, (server.address() as AddressInfo).port);
    connection.send(post('{"id":1,"name":"Fe', 100));
    await assert.rejects(outcome.promise, { code: 'malformed_request' });
  });
});
