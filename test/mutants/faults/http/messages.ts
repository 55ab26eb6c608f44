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
        find: `path: route?.path ?? '', operation`,
        replace: 'path: target, operation',
      },
      {
        name: 'handler: the message of a request without the scope has no user',
        find: '    onUser?.(caller.user);\n    checkScope(caller, scope);',
        replace: '    checkScope(caller, scope);\n    onUser?.(caller.user);',
      },
    ],
  ),
  ...faultsIn(
    'src/http/answer.ts',
    ['test/http/request-channel.test.ts'],
    [{ name: 'answer: the message of a request has no error code', find: '    error: known.code,\n', replace: '' }],
  ),
];
