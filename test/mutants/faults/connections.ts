import { faultsIn } from '../fault.ts';
import type { Fault } from '../fault.ts';

const connectionLimit = 'test/http/node/connection-limit.test.ts';
const idleConnections = 'test/http/node/idle-connections.test.ts';
const inOrder = 'test/http/node/in-order.test.ts';
const limits = 'test/http/node/limits.test.ts';
const longLists = 'test/http/long-lists.test.ts';
const malformed = 'test/http/node/validation.test.ts';
const refuse = 'test/http/node/refuse-connection.test.ts';
const server = 'test/http/node/server.test.ts';
const lateRequests = 'test/http/node/late-requests.test.ts';

/** What a connection carries and in which order, how it ends, and how much of everything there may be. */
export const connectionFaults: readonly Fault[] = [
  ...faultsIn(
    'src/http/node/http1-only.ts',
    ['test/http/node/http1-only.test.ts'],
    [
      {
        name: 'an HTTP/2 request is served',
        find: 'request.httpVersionMajor < 2',
        replace: 'request.httpVersionMajor <= 2',
      },
      { name: 'each HTTP/2 request is reported', find: 'isReported = true;', replace: '' },
    ],
  ),
  ...faultsIn(
    'src/http/node/in-order.ts',
    [inOrder],
    [
      {
        name: 'requests of a connection are begun at once',
        find: 'if (before.destroyed && last.turn !== turn) {',
        replace: 'if (last.turn !== turn || before.req !== request) {',
      },
      {
        name: 'a request that waited behind a last answer is begun',
        find: 'if (waitsFor.delete(response) && isOpen(socket)) listener',
        replace: 'if (waitsFor.delete(response)) listener',
      },
      { name: 'a connection is read while its requests wait', find: 'socket.pause();', replace: '' },
      {
        name: 'a connection that node:http resumes is read while its requests wait',
        find: `socket.on('resume', pauseAgain).on('close', forget);`,
        replace: `socket.on('close', forget);`,
      },
      { name: 'a connection is never read again when its requests have waited', find: '.resume();', replace: ';' },
      { name: 'one request more may wait', find: 'line.length >= maxWaiting', replace: 'line.length > maxWaiting' },
      {
        name: 'the last request that waited is counted for ever',
        find: 'this.length -= this.#waits.get(socket)?.count ?? 0;',
        replace: '',
      },
      {
        name: 'a client that sends many ahead keeps all others waiting',
        find: `before.once('close', () => setImmediate(begin));`,
        replace: `before.once('close', () => { queueMicrotask(begin); });`,
      },
    ],
  ),
  ...faultsIn(
    'src/http/node/refuse-connection.ts',
    [inOrder],
    [
      { name: 'a refusal stands before the answers that are due', find: 'after(last, refuse);', replace: 'refuse();' },
      {
        name: 'a refusal stands before the answer that it waits for',
        find: 'else after(before, refuse);',
        replace: 'else refuse();',
      },
      {
        name: 'a request that broke while it waited gets no answer',
        find: 'else after(before, refuse);',
        replace: 'else after(before, () => { closeLingering(socket); });',
      },
      {
        name: 'a request that is answered already gets a refusal, too',
        find: `() => {
      closeLingering(socket);
    }`,
        replace: 'refuse',
        tests: [server, refuse],
      },
      {
        name: 'a client that still sends is cut off from its answer',
        find: 'setTimeout(destroy, lingerMs)',
        replace: 'setTimeout(destroy, 0)',
        tests: [refuse],
      },
      {
        name: 'a client that never ends its side stays',
        find: 'setTimeout(destroy, lingerMs)',
        replace: 'setTimeout(() => undefined, lingerMs)',
        tests: [refuse],
      },
    ],
  ),
  ...faultsIn(
    'src/http/node/server.ts',
    ['test/http/node/connect.test.ts'],
    [
      { name: 'a client of CONNECT ends the process', find: `.on('error', destroy)`, replace: '' },
      {
        name: 'a CONNECT stops the answers before it',
        find: `
      drainResponses(socket);
    `,
        replace: '',
      },
      {
        name: 'requests that are not read are refused as too late',
        find: `code === 'request_timeout' && socket.isPaused()`,
        replace: `code === 'header_too_large' && socket.isPaused()`,
        tests: [lateRequests],
      },
      {
        name: 'a request that was late while it waited may take for ever',
        find: 'timeOutLater(server, socket);',
        replace: 'return;',
        tests: [lateRequests],
      },
      {
        name: 'a request that arrived in time is refused as too late',
        find: '!last.req.complete : ',
        replace: 'lastResponse(socket) === last : ',
        tests: [lateRequests],
      },
    ],
  ),
  ...faultsIn(
    'src/http/node/request-listener.ts',
    [inOrder],
    [
      { name: 'what comes with a request to upgrade is misread', find: ' || asksForUpgrade(message)', replace: '' },
      {
        name: 'an answer that does not wait for the body is reset',
        find: `  socket.destroySoon = () => {
    closeLingering(socket);
  };
`,
        replace: '',
        tests: [refuse],
      },
      {
        name: 'a malformed request leaves its connection open',
        find: `new PlantStoreError('malformed_request'), ['Connection', 'close'])`,
        replace: `new PlantStoreError('malformed_request'))`,
        tests: [malformed],
      },
    ],
  ),
  ...faultsIn(
    'src/http/node/validation.ts',
    [malformed],
    [
      { name: 'of two Hosts the first counts', find: ` || countHeader(request, 'host') !== 1`, replace: '' },
      { name: 'a Host may be anything', find: '!hostAndPort.test(host) || ', replace: '' },
      { name: 'a Host may hold user information', find: String.raw`[\w\-.~%`, replace: String.raw`[\w\-.@~%` },
      { name: 'every version is HTTP/1.0', find: `if (!isLatest && httpVersion !== '1.0') return true;`, replace: '' },
      {
        name: 'a transfer coding in HTTP/1.0 is taken',
        find: 'isLatest && coding.toLowerCase()',
        replace: 'coding.toLowerCase()',
      },
    ],
  ),
  ...faultsIn(
    'src/http/node/request-body.ts',
    [refuse],
    [
      { name: 'a client that asks for 100 Continue never gets it', find: 'response?.writeContinue();', replace: '' },
      {
        name: 'a body that is too large is asked for',
        find: `if (response !== undefined && Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);`,
        replace: '',
      },
      {
        name: 'a client whose body came along gets no 100 Continue',
        find: ' || continueOwed.has(request)',
        replace: '',
      },
      {
        name: 'the end of a chunked body of DELETE is not waited for',
        find: `headers['transfer-encoding'] !== undefined || (headers`,
        replace: '(headers',
      },
    ],
  ),
  ...faultsIn(
    'src/http/operations.ts',
    [limits],
    [
      {
        name: 'a delete does not wait for the end of its body',
        find: 'await request.discardBody(limits.maxBodyBytes);',
        replace: '',
        tests: [refuse],
      },
      {
        name: 'a request takes effect though nobody can be told',
        find: `if (!isOpen) throw new PlantStoreError('malformed_request');`,
        replace: '',
        tests: [refuse],
      },
      {
        name: 'a create is in flight for ever',
        find: 'newPlant)), user };\n      } finally {\n        inFlight.end(user);',
        replace: 'newPlant)), user };\n      } finally {',
      },
      {
        name: 'a list is in flight for ever',
        find: '(user, range);\n      } finally {\n        inFlight.end(user);',
        replace: '(user, range);\n      } finally {',
      },
      {
        name: 'a delete is in flight for ever',
        find: '{ status: 204 };\n      } finally {\n        inFlight.end(user);',
        replace: '{ status: 204 };\n      } finally {',
      },
    ],
  ),
  ...faultsIn(
    'src/http/long-lists.ts',
    [longLists],
    [
      { name: 'lists hold their ids for ever', find: 'this.#heldIds.add(user, -held);', replace: '' },
      {
        name: 'lists of a user hold any number of ids',
        find: 'heldByUser > this.#maxHeldIds * userShare',
        replace: 'heldByUser > Infinity',
      },
      { name: 'the only long list of a user is refused', find: 'heldByUser > heldByList && ', replace: '' },
      {
        name: 'one user holds the ids of all',
        find: 'new UserTotals(maxHeldIds * userShare)',
        replace: 'new UserTotals()',
      },
      { name: 'all long lists of a user are prepared at once', find: 'await this.#enter(request.user);', replace: '' },
      { name: 'any number of long lists waits', find: 'isFull || queue.length >= maxWaitingOfUser', replace: 'isFull' },
      {
        name: 'a long list is prepared for a client that has gone',
        find: `        if (isClientGone()) throw new PlantStoreError('malformed_request');\n        held`,
        replace: '        held',
      },
    ],
  ),
  ...faultsIn(
    'src/http/node/request-listener.ts',
    [longLists],
    [
      {
        name: 'a client that left before its long list holds ids for ever',
        find: `if (typeof answer?.body === 'object') await answer.body.return();`,
        replace: '',
      },
    ],
  ),
  ...faultsIn(
    'src/http/node/client-gone.ts',
    [longLists],
    [
      {
        name: 'a client that closed its connection is taken for one that reads',
        find: 'response.writeContinue();',
        replace: 'response.getHeaderNames();',
      },
    ],
  ),
  ...faultsIn(
    'src/http/node/node-request.ts',
    [malformed],
    [
      {
        name: 'of two Content-Types the first counts',
        find: 'countHeader(this.#message, name) !== 1',
        replace: 'countHeader(this.#message, name) < 1',
      },
    ],
  ),
  ...faultsIn(
    'src/http/in-flight.ts',
    ['test/http/in-flight.test.ts'],
    [
      {
        name: 'one user may have all requests in flight',
        find: 'Math.ceil(maxInFlight * userShare)',
        replace: 'maxInFlight',
      },
      { name: 'the store gets one request more at once', find: 'all >= this.#max ', replace: 'all > this.#max ' },
    ],
  ),
  ...faultsIn(
    'src/http/unsent-bytes.ts',
    ['test/http/unsent-bytes.test.ts'],
    [
      {
        name: 'one user may let clients hold all memory',
        find: '>= this.#max * userShare * factor',
        replace: '>= this.#max * factor',
      },
      {
        name: 'clients that take nothing are never closed',
        find: 'if (this.#isOver(user)) this.#makeRoom(user);',
        replace: '',
      },
      {
        name: 'clients of others are closed for one user',
        find: 'if (pending.user === user || this',
        replace: 'if (pending.user !== user || this',
      },
      { name: 'a client may take a byte now and then', find: 'if (sinceMs > latest) return;', replace: 'return;' },
    ],
  ),
  ...faultsIn(
    'src/http/node/server.ts',
    [limits],
    [
      {
        name: 'a client that takes nothing is waited for, for ever',
        find: '  timeout: 60_000',
        replace: '  timeout: 0',
      },
      {
        name: 'the limit of open files does not bound connections',
        find: 'connectionLimit(openFileLimit())',
        replace: 'connectionLimit(Infinity)',
        tests: [connectionLimit],
      },
      {
        name: 'idle connections take the room of new clients',
        find: 'closeIdleConnections(server, connections);',
        replace: '',
      },
      {
        name: 'a connection is idle before its client thinks so',
        find: 'keepAliveTimeout: 65_000',
        replace: 'keepAliveTimeout: 5_000',
      },
      {
        name: 'times are looked at every 30 seconds',
        find: 'connectionsCheckingInterval: 1000',
        replace: 'connectionsCheckingInterval: 30_000',
        tests: [server],
      },
      {
        name: 'headers past 2000 are dropped',
        find: 'maxHeadersCount: 0',
        replace: 'maxHeadersCount: 2000',
        tests: [malformed],
      },
      {
        name: 'a client that has sent all gets no answer',
        find: 'httpAllowHalfOpen: true',
        replace: 'httpAllowHalfOpen: false',
        tests: [refuse, inOrder],
      },
      {
        name: '100 Continue goes out before any check',
        find: 'oweContinue(request, response);',
        replace: 'response.writeContinue();',
        tests: [refuse],
      },
      {
        name: 'an expectation that nobody knows is refused',
        find: `server.on('checkExpectation', (request, response) => server.emit('request', request, response));`,
        replace: '',
        tests: ['test/http/openapi-answers.test.ts'],
      },
    ],
  ),
  ...faultsIn(
    'src/http/node/connection-limit.ts',
    [connectionLimit],
    [
      {
        name: 'there may be any number of connections',
        find: 'mostConnections = 10_000',
        replace: 'mostConnections = 1_000_000',
      },
      {
        name: 'connections leave no files to the database',
        find: 'maxOpenFiles - reservedFiles',
        replace: 'maxOpenFiles',
      },
      {
        name: 'a process with few files has no connections',
        find: 'Math.max(fewestConnections, maxOpenFiles - reservedFiles)',
        replace: 'maxOpenFiles - reservedFiles',
      },
      {
        name: 'a report no longer names the hosts of connections',
        find: 'report.excludeNetwork = excludeNetwork;',
        replace: '',
      },
    ],
  ),
  ...faultsIn(
    'src/http/node/idle-connections.ts',
    [idleConnections],
    [
      {
        name: 'a connection that becomes idle at the limit stays',
        find: 'socket.bytesRead);\n      this.makeRoom();',
        replace: 'socket.bytesRead);',
      },
      { name: 'a new client closes no idle connection', find: '    });\n    this.makeRoom();', replace: '    });' },
      {
        name: 'a connection whose request is arriving is closed',
        find: 'if (socket.bytesRead === bytesRead) return socket;',
        replace: 'return socket;',
      },
      {
        name: 'an incomplete header keeps its connection',
        find: 'this.#withoutRequest.set(socket, now);',
        replace: '',
      },
      { name: 'a new connection is idle at once', find: 'if (sinceMs > now - headerMs) break;', replace: '' },
      { name: 'silent connections are kept at the limit', find: 'this.#retryLater();', replace: '' },
      { name: 'a closed connection is counted until its close event', find: 'this.#open.delete(socket);', replace: '' },
    ],
  ),
];
