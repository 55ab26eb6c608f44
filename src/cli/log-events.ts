import { subscribe } from 'node:diagnostics_channel';
import type { Server } from 'node:http';
import type { RequestMessage } from '../http/request-message.ts';
import type { Log } from './output/log.ts';

export function logEvents(server: Server, log: Log): void {
  // Without a subscriber, the service does not spend time on tracing.
  if (log.hasInfo) {
    subscribe('tracing:plant-store:request:asyncEnd', (message) => {
      log.request(message as RequestMessage);
    });
  }
  server.on('clientError', ({ code = '' }: NodeJS.ErrnoException) => {
    // Other codes mean that a client disconnected.
    if (/^HPE_(?!INVALID_EOF_STATE)|^ERR_HTTP_REQUEST_TIMEOUT/.test(code)) log.info('refused', { code });
  });
  const limit = `at most ${server.maxConnections} connections may be open`;
  server.on('drop', () => {
    log.error(`A connection was closed: ${limit}.`);
  });
  server.on('connectionEvicted', () => {
    log.error(`The least active connection was closed to make room: ${limit}.`);
  });
}
