import { commonHeaders, jsonHeaders } from '../answer.ts';
import type { Answer, HeaderList } from '../answer.ts';
import type { UnsentBytes } from '../unsent-bytes.ts';
import { ListStream } from './list-stream.ts';

/** Creates WHATWG responses from answers. Their headers are the same as those of responses over node:http. */
export class ResponseFactory {
  readonly #unsent: UnsentBytes;

  constructor(unsent: UnsentBytes) {
    this.#unsent = unsent;
  }

  /** Creates the response to a request. `report` is called with an error that occurs while a list is being sent. */
  async create(answer: Answer, request: Request, report: (error: unknown) => void): Promise<Response> {
    const { status, headers = [], body, user = '', onEnd } = answer;
    const isHead = request.method === 'HEAD';
    if (typeof body !== 'object' || isHead) onEnd?.({ isComplete: true });
    if (body === undefined) return new Response(null, { status, headers: pairs([...commonHeaders, ...headers]) });
    if (typeof body === 'string') {
      const length = ['Content-Length', `${Buffer.byteLength(body)}`];
      return new Response(isHead ? null : body, { status, headers: pairs([...jsonHeaders, ...length, ...headers]) });
    }
    const init = { status, headers: pairs([...jsonHeaders, ...headers]) };
    if (!isHead) {
      const { signal } = request;
      const stream = ListStream.create({ pages: body, user, unsent: this.#unsent, signal, report, onEnd });
      return new Response(stream, init);
    }
    await body.return();
    return new Response(null, init);
  }
}

function pairs(list: HeaderList): [name: string, value: string][] {
  return Array.from({ length: list.length / 2 }, (_, at) => [list[2 * at] ?? '', list[2 * at + 1] ?? '']);
}
