import { faultsIn } from '../../fault.ts';
import type { Fault } from '../../fault.ts';

const body = 'test/http/fetch/request-body.test.ts';
const handler = 'test/http/fetch/fetch-handler.test.ts';
const stream = 'test/http/fetch/list-stream.test.ts';

const cors = 'test/http/cors.test.ts';

/** The front for `Request` and `Response`, and CORS. */
export const fetchFaults: readonly Fault[] = [
  ...faultsIn(
    'src/http/fetch/fetch-request.ts',
    [handler],
    [
      { name: 'a fragment is part of the target', find: `.replace(/#.*$/, '')`, replace: '' },
      { name: 'only http and https URLs have a path', find: '/^[^:/?#]+:', replace: '/^https?:' },
      {
        name: 'an aborted request is open',
        find: 'return !this.#request.signal.aborted;',
        replace: 'return true;',
        tests: [stream],
      },
      { name: 'anything with a url is a Request', find: `&& typeof (headers`, replace: '|| typeof (headers' },
    ],
  ),
  ...faultsIn(
    'src/http/fetch/request-body.ts',
    [body],
    [
      { name: 'a locked body is read', find: 'if (body.locked) throw alreadyRead();', replace: '' },
      { name: 'a used body is read', find: 'if (request.bodyUsed) throw alreadyRead();', replace: '' },
      {
        name: 'a delete reads a used body',
        find: `  if (request.bodyUsed) return undefined;
  const expected = expectedBytes(request, maxBytes);
  const { body, signal } = request;
  if (body === null || body.locked)`,
        replace: `  const expected = expectedBytes(request, maxBytes);
  const { body, signal } = request;
  if (body === null)`,
      },
      {
        name: 'a body that is too large is accessed',
        find: `  const expected = expectedBytes(request, maxBytes);
  const { body } = request;`,
        replace: `  const { body } = request;
  const expected = expectedBytes(request, maxBytes);`,
      },
      {
        name: 'a Content-Length over the maximum is not refused',
        find: 'if (Number(announced) > maxBytes) throw',
        replace: 'if (Number(announced) < 0) throw',
      },
      {
        name: 'any Content-Length is a number',
        find: 'if (!/^\\d+$/.test(announced)) return maxBytes;',
        replace: '',
      },
      {
        name: 'an abort does not end the reading',
        find: `signal.addEventListener('abort', cancel, { once: true });`,
        replace: '',
      },
      { name: 'an earlier abort does not end the reading', find: 'if (signal.aborted) cancel();', replace: '' },
      {
        name: 'the start of an aborted body counts as the whole',
        find: `if (signal.aborted) throw new HttpError('malformed_request');`,
        replace: '',
      },
      { name: 'a refused body is not cancelled', find: '    cancel();\n    throw error;', replace: '    throw error;' },
      { name: 'a body stays locked', find: 'reader.releaseLock();', replace: '' },
    ],
  ),
  ...faultsIn(
    'src/http/fetch/list-stream.ts',
    [stream],
    [
      {
        name: 'an abort does not end a list',
        find: `signal.addEventListener('abort', this.#onAbort, { once: true });`,
        replace: '',
      },
      { name: 'an aborted request gets a list', find: 'if (signal.aborted) this.#onAbort();', replace: '' },
      {
        name: 'unread bytes are not counted',
        find: '    unsent.set(this,',
        replace: '    if (user === "") unsent.set(this,',
      },
      {
        name: 'bytes are counted after they have been read',
        find: '    unsent.delete(this);\n    while',
        replace: '    while',
      },
      { name: 'a list that failed seems complete', find: 'this.#controller?.error(', replace: 'void (' },
      { name: 'a failed read is not reported', find: 'this.#options.report(error);', replace: '' },
      {
        name: 'a closed list is read on',
        find: 'await pages.return().catch(report);',
        replace: 'await pages; void report;',
      },
      { name: 'an empty page is a piece', find: 'while (this.#at ===', replace: 'if (this.#at ===' },
    ],
  ),
  ...faultsIn(
    'src/http/fetch/response.ts',
    [handler],
    [
      { name: 'HEAD has a body', find: 'isHead ? null : body', replace: 'body' },
      { name: 'HEAD leaves a list open', find: '    await body.return();\n', replace: '', tests: [stream] },
      {
        name: 'the length of a Response is counted in characters',
        find: 'Buffer.byteLength(body)',
        replace: 'body.length',
        tests: ['test/http/fetch/fetch-handler.test.ts'],
      },
    ],
  ),
  ...faultsIn(
    'src/http/cors.ts',
    [cors],
    [
      { name: 'every origin is allowed', find: ' && this.#origins.has(origin) ? origin', replace: ' ? origin' },
      { name: 'caches do not regard the origin', find: "? [] : ['Vary', 'Origin']", replace: '? [] : []' },
      {
        name: 'caches regard the origin only if it is allowed',
        find: 'if (origin === undefined) return vary;',
        replace: 'if (origin === undefined) return [];',
      },
      {
        name: 'any preflight is granted',
        find: 'if (this.#allowed(request) === undefined) return [];',
        replace: '',
      },
      {
        name: 'the default port is part of an origin',
        find: 'URL.parse(value)?.origin === value',
        replace: 'URL.parse(value) !== null',
      },
      {
        name: '* is allowed beside origins',
        find: " && (origins.length === 1 || !origins.includes('*'))",
        replace: '',
      },
      {
        name: 'CORS is not described',
        find: 'response.headers = { ...response.headers, ...described };',
        replace: 'void described;',
      },
      {
        name: 'the preflight is not described',
        find: 'response.headers = { ...response.headers, ...describedPreflight };',
        replace: 'void describedPreflight;',
      },
    ],
  ),
  ...faultsIn(
    'src/http/handler.ts',
    [cors],
    [
      { name: 'responses lack CORS', find: '...(cors?.headers(request) ?? [])', replace: '' },
      { name: 'preflights lack CORS', find: ', ...(cors?.preflightHeaders(request, allow) ?? [])', replace: '' },
      {
        name: 'CORS is always on',
        find: 'corsOrigin.length === 0 ? undefined',
        replace: 'corsOrigin.length < 0 ? undefined',
      },
    ],
  ),
  ...faultsIn(
    'src/http/routes.ts',
    [handler],
    [{ name: 'basePath is not removed', find: '!path.startsWith(basePath)', replace: 'path !== ""' }],
  ),
];
