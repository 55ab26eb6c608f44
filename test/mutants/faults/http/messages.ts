import { faultsIn } from '../../fault.ts';
import type { Fault } from '../../fault.ts';

/** `src/http`: the messages on the channel plant-store:request. */
export const httpMessageFaults: readonly Fault[] = [
  ...faultsIn(
    'src/http/handler.ts',
    ['test/http/request-channel.test.ts'],
    [
      {
        name: 'handler: the message of a request contains the path that the client sent',
        find: `{ path: route?.path ?? '', operation`,
        replace: '{ path: target, operation',
        tests: ['test/http/request-channel.test.ts', 'test/cli/commands/serve/log-secrets.test.ts'],
      },
      {
        name: 'handler: the message of a request without the scope has no user',
        find: '    if (record !== undefined) record.caller = caller;\n    checkScope(caller, scope);',
        replace: '    checkScope(caller, scope);\n    if (record !== undefined) record.caller = caller;',
      },
    ],
  ),
  ...faultsIn(
    'src/http/request-identity.ts',
    ['test/http/request-identity.test.ts', 'test/http/request-channel.test.ts'],
    [
      {
        name: 'request identity: an unusable X-Request-Id is used',
        find: 'sent !== undefined && usableId.test(sent)',
        replace: `sent !== undefined && sent !== ''`,
      },
      {
        name: 'request identity: the leftmost address of X-Forwarded-For is used',
        find: '.at(-trustedProxies)',
        replace: '.at(0)',
      },
      {
        name: 'request identity: text that is not an address is used',
        find: 'isIP(forwarded) === 0',
        replace: `forwarded === ''`,
      },
      {
        name: 'request identity: a traceparent of version 00 may have more fields',
        find: `version === '00' && more !== undefined`,
        replace: `version === '00' && more === ''`,
      },
    ],
  ),
  ...faultsIn(
    'src/http/node/request-listener.ts',
    ['test/http/request-channel.test.ts'],
    [
      {
        name: 'request listener: the message of a request counts the bytes of earlier responses',
        find: 'socket.bytesWritten - bytesBefore',
        replace: 'socket.bytesWritten',
      },
      {
        name: 'request listener: each response counts as complete',
        find: 'isComplete: response.writableFinished',
        replace: 'isComplete: true',
      },
    ],
  ),
  ...faultsIn(
    'src/http/answer.ts',
    ['test/http/request-channel.test.ts'],
    [{ name: 'answer: the message of a request has no error code', find: '    error: known.code,\n', replace: '' }],
  ),
];
