import type { FinalAnswer, HeaderList, Sent } from '../answer.ts';
import { HttpError } from '../http-error.ts';

/** Creates a WHATWG response from an answer. The headers are the same as in a response over node:http. */
export function createResponse(answer: FinalAnswer, request: Request): Response {
  const { status, headers, body = null, onEnd } = answer;
  const init = { status, headers: pairs(headers) };
  const isHead = request.method === 'HEAD';
  if (typeof body === 'object' && body !== null && !isHead) {
    return new Response(streamOf(body, request.signal, onEnd), init);
  }
  onEnd({ isComplete: true });
  return new Response(isHead || typeof body === 'object' ? null : body, init);
}

const encoder = new TextEncoder();

/**
 * Returns a list as a stream. Each page is read only when the consumer requests it, so at most one page is in memory.
 * The stream ends early if the consumer cancels the stream or the client disconnects.
 */
function streamOf(
  pages: AsyncGenerator<string, void, undefined>,
  signal: AbortSignal,
  onEnd: (sent: Sent) => void,
): ReadableStream<Uint8Array> {
  let isEnded = false;
  const end = (sent: Sent): void => {
    if (isEnded) return;
    isEnded = true;
    signal.removeEventListener('abort', onAbort);
    onEnd(sent);
    void pages.return();
  };
  const onAbort = (): void => {
    end({ isComplete: false });
  };
  const source = {
    start(): void {
      signal.addEventListener('abort', onAbort, { once: true });
      if (signal.aborted) onAbort();
    },
    async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
      try {
        const { value, done } = await pages.next();
        if (done !== true) {
          controller.enqueue(encoder.encode(value));
          return;
        }
        if (!isEnded) controller.close();
        end({ isComplete: true });
      } catch (error) {
        end({ isComplete: false, error });
      }
      // The client must not mistake an incomplete list for a complete one. This call has no effect if the stream is
      // closed. After an abort, the server usually cancels the stream. If the server reads the stream instead, the
      // stream fails here. The stream does not fail at the time of the abort, because some servers would log such a
      // failure as a fault.
      controller.error(new HttpError('internal', 'The list ended before it was complete.'));
    },
    cancel: onAbort,
  };
  return new ReadableStream(source, { highWaterMark: 0 });
}

function pairs(list: HeaderList): [name: string, value: string][] {
  return Array.from({ length: list.length / 2 }, (_, at) => [list[2 * at] ?? '', list[2 * at + 1] ?? '']);
}
