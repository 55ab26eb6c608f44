import { faultsIn } from '../../../fault.ts';
import type { Fault } from '../../../fault.ts';

const inOrder = 'test/http/node/in-order.test.ts';
const plantList = 'test/http/plant-list.test.ts';
const operations = 'test/http/operations.test.ts';
const refuseConnection = 'test/http/node/refuse-connection.test.ts';
const validation = 'test/http/node/validation.test.ts';

/** `src/http/node`: how requests are read and responses are sent. */
export const nodeMessageFaults: readonly Fault[] = [
  ...faultsIn(
    'src/http/node/http1-only.ts',
    ['test/http/node/http1-only.test.ts'],
    [
      {
        name: 'HTTP/1 only: an HTTP/2 request is served',
        find: 'request.httpVersionMajor < 2',
        replace: 'request.httpVersionMajor <= 2',
      },
      { name: 'HTTP/1 only: every HTTP/2 request is reported', find: 'isReported = true;', replace: '' },
    ],
  ),
  ...faultsIn(
    'src/http/node/in-order.ts',
    [inOrder],
    [
      {
        name: 'in order: pipelined requests are started at the same time',
        find: 'if (before.destroyed && last.turn !== turn) {',
        replace: 'if (last.turn !== turn || before.req !== request) {',
      },
      {
        name: 'in order: a request after the final response is started',
        find: 'if (waitsFor.delete(response) && isOpen(socket)) listener',
        replace: 'if (waitsFor.delete(response)) listener',
      },
      { name: 'in order: a connection with waiting requests is not paused', find: 'socket.pause();', replace: '' },
      {
        name: 'in order: a connection that node:http resumes is not paused again',
        find: `socket.on('resume', pauseAgain).on('close', forget);`,
        replace: `socket.on('close', forget);`,
      },
      { name: 'in order: a paused connection is never resumed', find: '.resume();', replace: ';' },
      {
        name: 'in order: one request too many may wait',
        find: 'line.length >= maxWaiting',
        replace: 'line.length > maxWaiting',
      },
      {
        name: 'in order: the waiting requests of a closed connection are still counted',
        find: 'this.length -= this.#waits.get(socket)?.count ?? 0;',
        replace: '',
      },
      {
        name: 'in order: a client that pipelines requests delays all others',
        find: `before.once('close', () => setImmediate(begin));`,
        replace: `before.once('close', () => { queueMicrotask(begin); });`,
      },
    ],
  ),
  ...faultsIn(
    'src/http/node/node-request.ts',
    [validation],
    [
      {
        name: 'node request: the first of two Content-Type headers is used',
        find: 'countHeader(this.#message, name) !== 1',
        replace: 'countHeader(this.#message, name) < 1',
      },
    ],
  ),
  ...faultsIn(
    'src/http/node/request-body.ts',
    [refuseConnection],
    [
      {
        name: 'request body: a body received at once has no limit',
        find: 'if (length > maxBytes || length !==',
        replace: 'if (length !==',
        tests: [operations],
      },
      {
        name: 'request body: a disconnect during the body is not noticed',
        find: `.on('end', onEnd).on('close', onClose);`,
        replace: `.on('end', onEnd);`,
        tests: ['test/http/node/request-body.test.ts'],
      },
      { name: 'request body: 100 Continue is never sent', find: 'response?.writeContinue();', replace: '' },
      {
        name: 'request body: 100 Continue is sent for a body that is too large',
        find:
          `if (response !== undefined && Number(request.headers['content-length'] ?? 0) > ` +
          'maxBytes) throw tooLarge(maxBytes);',
        replace: '',
      },
      {
        name: 'request body: 100 Continue is not sent if the body arrived already',
        find: ' || pendingContinue.has(request)',
        replace: '',
      },
      {
        name: 'request body: the end of a chunked DELETE body is not awaited',
        find: `headers['transfer-encoding'] !== undefined || (headers`,
        replace: '(headers',
      },
    ],
  ),
  ...faultsIn(
    'src/http/node/request-listener.ts',
    [plantList],
    [
      {
        name: 'request listener: a list that fails midway looks complete',
        find: 'response.destroy();',
        replace: 'response.end();',
      },
      {
        name: 'request listener: an endless body is read without a limit',
        find: 'hasEndlessBody(message, handler.maxBodyBytes)',
        replace: 'hasEndlessBody(message, Infinity)',
        tests: ['test/http/node/request-body.test.ts'],
      },
      {
        name: 'request listener: the body of an upgrade request is parsed as a request',
        find: ' || asksForUpgrade(message)',
        replace: '',
        tests: [inOrder],
      },
      {
        name: 'request listener: a response sent before the end of the body is reset',
        find: `  socket.destroySoon = () => {
    closeLingering(socket);
  };
`,
        replace: '',
        tests: [refuseConnection],
      },
      {
        name: 'request listener: a malformed request does not close its connection',
        find: `'malformed_request', ['Connection', 'close'])`,
        replace: `'malformed_request', [])`,
        tests: [validation],
      },
      {
        name: 'request listener: a list that cannot be sent keeps its ids reserved',
        find: `if (typeof answer?.body === 'object') await answer.body.return();`,
        replace: '',
        tests: ['test/http/long-lists.test.ts'],
      },
    ],
  ),
  ...faultsIn(
    'src/http/node/send-answer.ts',
    ['test/http/node/send-answer.test.ts'],
    [
      {
        name: 'send answer: Content-Length is counted in UTF-16 units',
        find: 'Buffer.byteLength(body)',
        replace: 'body.length',
      },
      {
        name: 'send answer: back-pressure is ignored',
        find: 'await drained(response);',
        replace: '',
        tests: [plantList],
      },
      {
        name: 'send answer: reading continues after the client has disconnected',
        find: 'if (response.destroyed) return;\n        const piece',
        replace: 'const piece',
        tests: ['test/http/node/send-answer.test.ts'],
      },
      {
        name: 'send answer: waiting for drain does not end on a disconnect',
        find: `.once('drain', settle).once('close', settle)`,
        replace: `.once('drain', settle)`,
      },
      {
        name: 'send answer: HEAD reads the whole list',
        find: 'if (isHead) response.end();\n    else if',
        replace: 'if',
      },
      {
        name: 'send answer: unsent bytes are not counted',
        find: 'this.#unsent.set(response, user, response.writableLength + page.length - at);',
        replace: '',
        tests: ['test/http/unsent-bytes.test.ts'],
      },
    ],
  ),
  ...faultsIn(
    'src/http/node/validation.ts',
    [validation],
    [
      { name: 'validation: a request without Host is accepted', find: 'return isLatest;', replace: 'return false;' },
      {
        name: 'validation: an unsupported transfer coding is accepted',
        find: `coding.toLowerCase() === 'chunked'`,
        replace: `coding !== ''`,
      },
      {
        name: 'validation: the first of two Host headers is used',
        find: ` || countHeader(request, 'host') !== 1`,
        replace: '',
      },
      { name: 'validation: any Host value is accepted', find: '!hostAndPort.test(host) || ', replace: '' },
      {
        name: 'validation: a Host with user information is accepted',
        find: String.raw`[\w\-.~%`,
        replace: String.raw`[\w\-.@~%`,
      },
      {
        name: 'validation: any HTTP version is treated as 1.0',
        find: `if (!isLatest && httpVersion !== '1.0') return true;`,
        replace: '',
      },
      {
        name: 'validation: a transfer coding in HTTP/1.0 is accepted',
        find: 'isLatest && coding.toLowerCase()',
        replace: 'coding.toLowerCase()',
      },
    ],
  ),
  ...faultsIn(
    'src/http/body-bytes.ts',
    [operations],
    [
      {
        name: 'body bytes: a body received in chunks may be one byte too long',
        find: 'if (this.#length > this.#maxBytes) return',
        replace: 'if (this.#length > this.#maxBytes + 1) return',
      },
    ],
  ),
  ...faultsIn(
    'src/http/piece.ts',
    [plantList],
    [
      {
        name: 'piece: a piece ends between two surrogates',
        find: 'isHighSurrogate ? end - 1 : end',
        replace: 'end',
      },
    ],
  ),
  ...faultsIn(
    'src/http/node/request-listener.ts',
    ['test/http/node/request-listener.test.ts'],
    [
      {
        name: 'request listener: next is never called',
        find: "handler.hasRoute(message.url ?? '/')",
        replace: 'message.url !== undefined',
      },
      {
        name: 'request listener: next is called for every path',
        find: "handler.hasRoute(message.url ?? '/')",
        replace: 'message.url === ""',
      },
    ],
  ),
];
