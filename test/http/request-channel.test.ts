import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RequestMessage } from '../../src/index.ts';
import { messagesOf, withoutDuration } from '../support/messages.ts';
import { RawConnection } from '../support/raw-http.ts';
import { startService } from '../support/service.ts';
import type { Call } from '../support/call.ts';

const created = '{"id":7,"name":"Fern"}';

interface Case {
  readonly request: [method: string, target: string, call?: Call];
  readonly message: Omit<RequestMessage, 'durationMs' | 'method'>;
}

/** In this order, on one service. */
const cases: readonly Case[] = [
  {
    request: ['POST', '/plants', { body: created }],
    message: { path: '/plants', operation: 'createPlant', status: 200, error: undefined, user: 'ada' },
  },
  {
    request: ['POST', '/plants', { body: created }],
    message: { path: '/plants', operation: 'createPlant', status: 400, error: 'id_taken', user: 'ada' },
  },
  {
    request: ['GET', '/plants?limit=1'],
    message: { path: '/plants', operation: 'getPlants', status: 200, error: undefined, user: 'ada' },
  },
  {
    request: ['HEAD', '/plants'],
    message: { path: '/plants', operation: 'getPlants', status: 200, error: undefined, user: 'ada' },
  },
  {
    request: ['GET', '/plants?limit=x'],
    message: { path: '/plants', operation: 'getPlants', status: 400, error: 'invalid_limit', user: 'ada' },
  },
  {
    request: ['DELETE', '/plants/7', { token: 'ada-reads' }],
    message: { path: '/plants/{id}', operation: 'deletePlant', status: 403, error: 'insufficient_scope', user: 'ada' },
  },
  {
    request: ['DELETE', '/plants/7'],
    message: { path: '/plants/{id}', operation: 'deletePlant', status: 204, error: undefined, user: 'ada' },
  },
  {
    request: ['DELETE', '/plants/7'],
    message: { path: '/plants/{id}', operation: 'deletePlant', status: 404, error: 'plant_not_found', user: 'ada' },
  },
  {
    request: ['GET', '/plants', { token: null }],
    message: { path: '/plants', operation: 'getPlants', status: 401, error: 'missing_credentials', user: undefined },
  },
  {
    request: ['GET', '/plants', { token: 'mallory' }],
    message: { path: '/plants', operation: 'getPlants', status: 401, error: 'invalid_token', user: undefined },
  },
  {
    request: ['GET', '/openapi.json', { token: null }],
    message: { path: '/openapi.json', operation: 'getOpenApi', status: 200, error: undefined, user: undefined },
  },
  {
    request: ['OPTIONS', '/plants'],
    message: { path: '/plants', operation: undefined, status: 204, error: undefined, user: undefined },
  },
  {
    request: ['PUT', '/plants'],
    message: { path: '/plants', operation: undefined, status: 405, error: 'method_not_allowed', user: undefined },
  },
  {
    request: ['GET', '/secret?token=secret'],
    message: { path: '', operation: undefined, status: 404, error: 'route_not_found', user: undefined },
  },
];

describe('channel plant-store:request', () => {
  it('receives the route, the status, the error code and the user of each request', async (t) => {
    const { call } = await startService(t);
    const messages = messagesOf<RequestMessage>(t, 'plant-store:request');
    for (const { request } of cases) await call(...request);
    assert.deepEqual(
      withoutDuration(messages),
      cases.map(({ request: [method], message }) => ({ method, ...message })),
    );
  });

  it('receives an unexpected error as internal', async (t) => {
    const authenticate = (): never => {
      throw new Error('The identity provider failed');
    };
    const { call, faults } = await startService(t, { authenticate });
    const messages = messagesOf<RequestMessage>(t, 'plant-store:request');
    await call('GET', '/plants');
    assert.deepEqual(withoutDuration(messages), [
      { method: 'GET', path: '/plants', operation: 'getPlants', status: 500, error: 'internal', user: undefined },
    ]);
    assert.equal(faults.length, 1);
  });

  it('does not receive a malformed request, which is refused before it reaches the service', async (t) => {
    const { port } = await startService(t);
    const messages = messagesOf<RequestMessage>(t, 'plant-store:request');
    const connection = await RawConnection.open(t, port);
    connection.send('GET /plants HTTP/1.1\r\n\r\n');
    await connection.until(/40009/);
    assert.deepEqual(messages, []);
  });
});
