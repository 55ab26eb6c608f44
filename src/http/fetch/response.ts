import { HttpError } from '../exchange.ts';
import type { Answer, Pages, Sent } from '../exchange.ts';

/** The headers are the same as in a response over node:http. */
export function createResponse({ status, headers, body, onEnd }: Answer, request: Request): Response {
  const init = { status, headers };
  const sent = request.method === 'HEAD' || body === undefined ? null : body;
  if (typeof sent === 'object' && sent !== null && 'next' in sent) {
    return new Response(streamOf(sent, request, onEnd), init);
  }
  onEnd({ isComplete: true });
  return new Response(sent, init);
}

/** The requests whose lists are being sent. A request that is not referenced does not abort its signal. */
const sending = new Set<Request>();

/** Each page is read only when the consumer requests it. */
function streamOf(pages: Pages, request: Request, onEnd: (sent: Sent) => void): ReadableStream<Uint8Array> {
  const { signal } = request;
  sending.add(request);
  let isEnded = false;
  const end = (sent: Sent): void => {
    if (isEnded) return;
    isEnded = true;
    sending.delete(request);
    onEnd(sent);
    void pages.return();
  };
  const onAbort = (): void => {
    end({ isComplete: false });
  };
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  const source = {
    async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
      try {
        const { value, done } = await pages.next();
        if (done !== true) {
          controller.enqueue(value);
          return;
        }
        if (!isEnded) controller.close();
        end({ isComplete: true });
      } catch (error) {
        end({ isComplete: false, error });
      }
      // If the list is complete, the stream is already closed, and this call does nothing. Otherwise, the client must
      // not mistake the list for a complete one. After an abort, the stream fails only at the next pull, because some
      // servers would log an earlier failure as a fault.
      controller.error(new HttpError('internal', 'The list ended before it was complete.'));
    },
    cancel: onAbort,
  };
  return new ReadableStream(source, { highWaterMark: 0 });
}
