import { faultsIn } from '../../../fault.ts';
import type { Fault } from '../../../fault.ts';

const connect = 'test/http/node/connect.test.ts';
const connectionLimit = 'test/http/node/connection-limit.test.ts';
const drainServer = 'test/http/node/drain-server.test.ts';
const inOrder = 'test/http/node/in-order.test.ts';
const lateRequests = 'test/http/node/late-requests.test.ts';
const refuseConnection = 'test/http/node/refuse-connection.test.ts';
const server = 'test/http/node/server.test.ts';

/** `src/http/node`: the server, its connections and their limits. */
export const nodeConnectionFaults: readonly Fault[] = [
  ...faultsIn(
    'src/http/node/client-gone.ts',
    ['test/http/long-lists.test.ts'],
    [
      {
        name: 'client gone: a closed connection is not detected',
        find: 'response.writeContinue();',
        replace: 'response.getHeaderNames();',
      },
    ],
  ),
  ...faultsIn(
    'src/http/node/connection-limit.ts',
    [connectionLimit],
    [
      {
        name: 'connection limit: the number of connections is not limited',
        find: 'mostConnections = 10_000',
        replace: 'mostConnections = 1_000_000',
      },
      {
        name: 'connection limit: no files are reserved for the database',
        find: 'maxOpenFiles - reservedFiles',
        replace: 'maxOpenFiles',
      },
      {
        name: 'connection limit: a process with few files accepts no connections',
        find: 'Math.max(fewestConnections, maxOpenFiles - reservedFiles)',
        replace: 'maxOpenFiles - reservedFiles',
      },
      {
        name: 'connection limit: reading the limit changes process.report',
        find: 'report.excludeNetwork = excludeNetwork;',
        replace: '',
      },
    ],
  ),
  ...faultsIn(
    'src/http/node/idle-connections.ts',
    ['test/http/node/idle-connections.test.ts'],
    [
      {
        name: 'idle connections: a connection that becomes idle at the limit is not closed',
        find: 'socket.bytesRead);\n      this.makeRoom();',
        replace: 'socket.bytesRead);',
      },
      {
        name: 'idle connections: a new connection at the limit closes no idle one',
        find: '    });\n    this.makeRoom();',
        replace: '    });',
      },
      {
        name: 'idle connections: a connection is closed while its request arrives',
        find: 'if (socket.bytesRead === bytesRead) return socket;',
        replace: 'return socket;',
      },
      {
        name: 'idle connections: a connection with an incomplete header is never closed',
        find: 'this.#withoutRequest.set(socket, now);',
        replace: '',
      },
      {
        name: 'idle connections: a new connection counts as idle at once',
        find: 'if (sinceMs > now - headerMs) break;',
        replace: '',
      },
      {
        name: 'idle connections: silent connections are not checked again at the limit',
        find: 'this.#retryLater();',
        replace: '',
      },
      {
        name: 'idle connections: a destroyed connection is counted until its close event',
        find: 'this.#open.delete(socket);',
        replace: '',
      },
    ],
  ),
  ...faultsIn(
    'src/http/node/refuse-connection.ts',
    [inOrder],
    [
      {
        name: 'refuse connection: a refusal is sent before pending responses',
        find: 'after(last, refuse);',
        replace: 'refuse();',
      },
      {
        name: 'refuse connection: a refusal is sent before the response that it waits for',
        find: 'else after(before, refuse);',
        replace: 'else refuse();',
      },
      {
        name: 'refuse connection: a malformed pipelined request gets no response',
        find: 'else after(before, refuse);',
        replace: 'else after(before, () => { closeLingering(socket); });',
      },
      {
        name: 'refuse connection: a request that has its response gets a refusal too',
        find: `() => {
      closeLingering(socket);
    }`,
        replace: 'refuse',
        tests: ['test/http/node/request-body.test.ts', refuseConnection],
      },
      {
        name: 'refuse connection: a client that is still sending loses its response',
        find: 'setTimeout(destroy, lingerMs)',
        replace: 'setTimeout(destroy, 0)',
        tests: [refuseConnection],
      },
      {
        name: 'refuse connection: a half-open connection is never closed',
        find: 'setTimeout(destroy, lingerMs)',
        replace: 'setTimeout(() => undefined, lingerMs)',
        tests: [refuseConnection],
      },
    ],
  ),
  ...faultsIn(
    'src/http/node/server.ts',
    [server],
    [
      {
        name: 'server: node:http refuses requests without Host itself',
        find: 'requireHostHeader: false',
        replace: 'requireHostHeader: true',
      },
      {
        name: 'server: CONNECT gets no response',
        find: `refuseConnection(socket, 'route_not_found');`,
        replace: '',
        tests: [connect],
      },
      {
        name: 'server: a header that is too large is reported as malformed',
        find: `'HPE_HEADER_OVERFLOW'`,
        replace: `'HPE_HEADER_TOO_LARGE'`,
      },
      { name: 'server: the request timeout is off', find: 'requestTimeout: 30_000', replace: 'requestTimeout: 0' },
      { name: 'server: the headers timeout is off', find: 'headersTimeout: 10_000', replace: 'headersTimeout: 0' },
      {
        name: 'server: connections that were busy during a drain are kept',
        find: `if (response?.headersSent === false) response.setHeader('Connection', 'close');`,
        replace: '',
        tests: [drainServer],
      },
      {
        name: 'server: connections with new requests during a drain are kept',
        find: `if (!server.listening) response.setHeader('Connection', 'close');`,
        replace: '',
        tests: [drainServer],
      },
      {
        name: 'server: connections that become idle during a drain are kept',
        find: `{
    server.closeIdleConnections();
  }`,
        replace: 'undefined',
        tests: [drainServer],
      },
      {
        name: 'server: a drain never closes busy connections',
        find: 'for (const socket of connections) socket.destroy();',
        replace: '',
        tests: [drainServer],
      },
      {
        name: 'server: a drain does not wait for open connections',
        find: 'await closed;',
        replace: '',
        tests: [drainServer],
      },
      {
        name: 'server: an error on a CONNECT socket ends the process',
        find: `.on('error', destroy)`,
        replace: '',
        tests: [connect],
      },
      {
        name: 'server: a CONNECT stops the responses before it',
        find: `
      drainResponses(socket);
    `,
        replace: '',
        tests: [connect],
      },
      {
        name: 'server: a paused connection times out',
        find: `code === 'request_timeout' && socket.isPaused()`,
        replace: `code === 'header_too_large' && socket.isPaused()`,
        tests: [lateRequests],
      },
      {
        name: 'server: a request that was late while paused never times out',
        find: 'timeOutLater(server, socket);',
        replace: 'return;',
        tests: [lateRequests],
      },
      {
        name: 'server: a request that arrived in time gets a 408',
        find: '!last.req.complete : ',
        replace: 'lastResponse(socket) === last : ',
        tests: [lateRequests],
      },
      {
        name: 'server: a stalled connection never times out',
        find: '  timeout: 60_000',
        replace: '  timeout: 0',
        tests: [server],
      },
      {
        name: 'server: the limit of open files does not limit connections',
        find: 'connectionLimit(openFileLimit())',
        replace: 'connectionLimit(Infinity)',
        tests: [connectionLimit],
      },
      {
        name: 'server: idle connections are not closed for new ones',
        find: 'closeIdleConnections(server, connections);',
        replace: '',
        tests: ['test/http/node/connection-limit.test.ts'],
      },
      {
        name: 'server: the keep-alive timeout is too short',
        find: 'keepAliveTimeout: 65_000',
        replace: 'keepAliveTimeout: 5_000',
        tests: [server],
      },
      {
        name: 'server: timeouts are checked every 30 seconds',
        find: 'connectionsCheckingInterval: 1000',
        replace: 'connectionsCheckingInterval: 30_000',
      },
      {
        name: 'server: headers after the first 2000 are dropped',
        find: 'maxHeadersCount: 0',
        replace: 'maxHeadersCount: 2000',
        tests: ['test/http/node/validation.test.ts'],
      },
      {
        name: 'server: a half-closed connection gets no response',
        find: 'httpAllowHalfOpen: true',
        replace: 'httpAllowHalfOpen: false',
        tests: [refuseConnection, inOrder],
      },
      {
        name: 'server: 100 Continue is sent before any check',
        find: 'deferContinue(request, response);',
        replace: 'response.writeContinue();',
        tests: [refuseConnection],
      },
      {
        name: 'server: an unknown expectation is refused',
        find: `server.on('checkExpectation', (request, response) => server.emit('request', request, response));`,
        replace: '',
        tests: ['test/http/openapi-answers.test.ts'],
      },
    ],
  ),
];
