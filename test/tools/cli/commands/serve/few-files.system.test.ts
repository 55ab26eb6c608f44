import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { revokeToken } from '../../../../../src/tokens/issue.ts';
import { eventually } from '../../../../support/eventually.ts';
import { parseRawAnswer, RawConnection } from '../../../../support/raw-http.ts';
import { hasProgram } from '../../../../support/system-fault.ts';
import { startTokenServer } from '../../../../support/token-server.ts';

const body = '{"id":1,"name":"Fern"}';

describe('plant-store serve with few open files', () => {
  it('serves new clients, rejects a revoked token, and logs that it closes connections', async (t) => {
    if (!hasProgram(t, 'prlimit')) return;
    const { tokens, token, tokenId, server } = await startTokenServer(t, [], { maxOpenFiles: 64 });
    const statusOf = async (text: string): Promise<number> => {
      const connection = await RawConnection.open(t, server.port);
      connection.send(text);
      return parseRawAnswer(await connection.until(/\r\n\r\n.*[}\]]$/)).status;
    };
    // A connection that has sent a response is not closed for a second, so a new client may have to try again.
    const retried = (text: string): Promise<number> => eventually(() => statusOf(text));
    for (let n = 0; n < 16; n++) {
      assert.equal(await retried('GET /plants HTTP/1.1\r\nHost: x\r\n\r\n'), 401, `client ${n}`);
    }
    const authorized = `Host: x\r\nAuthorization: Bearer ${token}\r\n`;
    const content = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const create = `POST /plants HTTP/1.1\r\n${authorized}${content}`;
    assert.equal(await retried(create), 200);
    const list = `GET /plants HTTP/1.1\r\n${authorized}\r\n`;
    assert.equal(await retried(list), 200);
    assert.ok(revokeToken(tokens, tokenId));
    await eventually(async () => {
      assert.equal(await statusOf(list), 401);
    });
    assert.equal(await server.stop(), 0);
    assert.match(
      server.stderr(),
      /The least active connection was closed to make room: at most 8 connections may be open\./,
    );
    assert.doesNotMatch(server.stderr(), /EMFILE|cannot be used/);
  });
});
