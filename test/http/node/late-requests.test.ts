import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { heldStorage } from '../../support/held-storage.ts';
import {
  createRequest,
  listRequest,
  parseRawAnswers,
  post,
  RawConnection,
  statusesIn,
} from '../../support/raw-http.ts';
import { startImpatientService } from '../../support/service.ts';

/** Longer than the interval in which node:http checks for timeouts. */
const untilChecked = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1200));

describe('pipelined requests that are not handled in time', { concurrency: true }, () => {
  it('get no 408 if they are complete or the server has not read them', async (t) => {
    const { storage, release, committing } = heldStorage();
    const { port } = await startImpatientService(t, { storage });
    const connection = await RawConnection.open(t, port, createRequest(1) + listRequest);
    await committing;
    connection.send(createRequest(2));
    await untilChecked();
    release();
    const answers = parseRawAnswers(await connection.until(/(?:HTTP[^]*){3}\}$/));
    assert.deepEqual(
      answers.map(({ json }) => json),
      [{ name: 'plant 1' }, [{ name: 'plant 1' }], { name: 'plant 2' }],
    );
  });

  for (const [what, incomplete] of [
    ['header', 'GET /pla'],
    ['body', post('{"id":2', 100)],
  ] as const) {
    it(`get 408 after the responses to earlier requests if their ${what} is incomplete`, async (t) => {
      const { storage, release, committing } = heldStorage();
      const { port } = await startImpatientService(t, { storage });
      const connection = await RawConnection.open(t, port, createRequest(1) + listRequest + incomplete);
      await committing;
      await untilChecked();
      release();
      assert.deepEqual(statusesIn(await connection.untilClosed()), [200, 200, 408]);
    });
  }
});
