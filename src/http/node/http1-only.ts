import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { PlantStoreError } from '../../model/errors.ts';
import { errorAnswer } from '../answer.ts';
import type { AnswerSender } from './send-answer.ts';

const refusal = errorAnswer(new PlantStoreError('malformed_request', 'This service supports HTTP/1.1, but not HTTP/2.'));

const advice = 'pass the listener to the createServer of node:http or node:https, and put a proxy in front for HTTP/2';

/**
 * Refuses the requests of node:http2: their connection cannot be paused, and has no order of requests.
 * The first one is also reported to `onHttp2`, because only the owner of the server can help.
 */
export function http1Only(
  listener: RequestListener,
  sender: AnswerSender,
  onHttp2: (error: Error, request: IncomingMessage, response: ServerResponse) => void,
): RequestListener {
  let isReported = false;
  return (request, response) => {
    // A client of node:http can claim any version; only the requests of node:http2 are streams of a session.
    if (request.httpVersionMajor < 2 || !('stream' in request)) {
      listener(request, response);
      return;
    }
    void sender.send(response, refusal, request.method === 'HEAD');
    if (isReported) return;
    isReported = true;
    onHttp2(new Error(`createRequestListener supports HTTP/1.1 only: ${advice}.`), request, response);
  };
}
