import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { PlantStoreError } from '../../model/errors.ts';
import type { PlantStore } from '../../store/plant-store.ts';
import { errorAnswer } from '../answer.ts';
import type { Answer } from '../answer.ts';
import { createHandler } from '../handler.ts';
import type { ServiceOptions } from '../service-options.ts';
import { http1Only } from './http1-only.ts';
import { inOrder } from './in-order.ts';
import { NodeRequest } from './node-request.ts';
import { closeLingering } from './refuse-connection.ts';
import { hasEndlessBody } from './request-body.ts';
import { AnswerSender } from './send-answer.ts';
import { isMalformed } from './validation.ts';

/** How many pipelined requests may wait for those before them, as a multiple of `maxInFlight`. */
const maxWaitingFactor = 10;

const malformed = errorAnswer(new PlantStoreError('malformed_request'), ['Connection', 'close']);

/**
 * Creates a listener for node:http that serves the whole service. It can be mounted in an Express-style app under a
 * prefix, before any body parser. It supports HTTP/1.1: it refuses the HTTP/2 requests of a node:http2 server.
 *
 * The requests of a connection are handled one after another, and a connection whose client may still be sending is
 * closed after its last response; nothing else of the server is touched.
 *
 * @throws {TypeError} for a wrong option, which it names.
 * @example
 * app.use('/garden', createRequestListener(store, { authenticate }));
 */
export function createRequestListener(store: PlantStore, options: ServiceOptions): RequestListener {
  const handler = createHandler('createRequestListener', store, options);
  const sender = new AnswerSender(handler.unsent);

  async function respond(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = new NodeRequest(message, response);
    let answer: Answer | undefined;
    try {
      answer = isMalformed(message) ? malformed : await handler.answer(request);
      if (response.destroyed) return;
      if (hasEndlessBody(message, handler.maxBodyBytes) || asksForUpgrade(message)) closeAfter(message, response);
      await sender.send(response, answer, message.method === 'HEAD');
    } catch (error) {
      // Part of the answer may have been sent. The client must not take it for the whole.
      response.destroy();
      handler.report(error, request);
    } finally {
      if (typeof answer?.body === 'object') await answer.body.return();
    }
  }

  const maxWaiting = handler.maxInFlight * maxWaitingFactor;
  const listener = inOrder((message, response) => void respond(message, response), maxWaiting);
  return http1Only(listener, sender, (error, message, response) => {
    handler.report(error, new NodeRequest(message, response));
  });
}

/** node:http drops what arrives together with such a request, and parses the rest of it as a request of its own. */
function asksForUpgrade({ headers }: IncomingMessage): boolean {
  return headers.upgrade !== undefined;
}

/** Closes the connection after an answer that is sent while the request is still being received. */
function closeAfter({ socket }: IncomingMessage, response: ServerResponse): void {
  response.setHeader('Connection', 'close');
  // node:http calls this to close a connection after its last response.
  socket.destroySoon = () => { closeLingering(socket); };
}
