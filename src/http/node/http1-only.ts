import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { errorAnswer } from '../answer.ts';
import { HttpError } from '../http-error.ts';
import type { AnswerSender } from './send-answer.ts';

const refusal = errorAnswer(new HttpError('malformed_request', 'This service supports HTTP/1.1, but not HTTP/2.'));

const advice = 'pass the listener to the createServer of node:http or node:https, and put a proxy in front for HTTP/2';

/**
 * Wraps a listener so that requests from a node:http2 server are refused. The listener cannot handle them, because
 * HTTP/2 connections cannot be paused and their requests are not ordered. `onHttp2` is called for the first such
 * request, so that the error is reported to the application that created the server.
 */
export function http1Only(
  listener: RequestListener,
  sender: AnswerSender,
  onHttp2: (error: Error, request: IncomingMessage, response: ServerResponse) => void,
): RequestListener {
  let isReported = false;
  return (request, response) => {
    // An HTTP/1.1 client can send any version number, but only the requests of node:http2 have a `stream` property.
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
