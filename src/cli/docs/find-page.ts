import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { errorAnswer, jsonHeaders } from '../../http/answer.ts';
import { HttpError } from '../../http/http-error.ts';
import type { FindPage, SendPage } from '../../http/node/request-listener.ts';
import { splitTarget } from '../../http/routes.ts';
import { contentSecurityPolicy, pageFiles } from './page.ts';
import type { PageFile } from './page.ts';
import { openSwaggerUi } from './swagger-ui.ts';

const allow = 'GET, HEAD, OPTIONS';

/**
 * Creates a function that returns the file at a request path of the documentation page (Swagger UI at `/docs`, which
 * loads the service's own `/openapi.json`). For any other path, the function returns `undefined`, and the service
 * handles the request.
 *
 * @throws {UsageError} if the swagger-ui-dist package is not installed. `source` is the flag or the environment
 *   variable that enables the page.
 */
export function createDocs(source: string): FindPage {
  const pages = new Map([...pageFiles(openSwaggerUi(source))].map(([path, file]) => [path, fileSender(file)]));
  return (request) => {
    const { path } = splitTarget(request.url ?? '');
    const send = path === '/docs/' ? redirectToPage : pages.get(path);
    if (send === undefined) return undefined;
    if (request.method === 'OPTIONS') return sendOptions;
    return request.method === 'GET' || request.method === 'HEAD' ? send(request) : refuseMethod;
  };
}

function fileSender({ mediaType, body }: PageFile): (request: IncomingMessage) => SendPage {
  const etag = `"${createHash('sha256').update(body).digest('base64url')}"`;
  const headers = {
    'Content-Type': mediaType,
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': contentSecurityPolicy,
    'Referrer-Policy': 'no-referrer',
    // Browsers must check before each use whether their copy is current, because a new release serves its files at the
    // same paths.
    'Cache-Control': 'no-cache',
    ETag: etag,
  };
  return (request) => (response) => {
    if (isCurrent(request.headers['if-none-match'], etag)) response.writeHead(304, headers).end();
    else response.writeHead(200, { ...headers, 'Content-Length': body.length }).end(body);
  };
}

/**
 * Checks whether the client's copy is current, according to the value of the `If-None-Match` header. Entity tags are
 * compared weakly (RFC 9110 §13.1.2).
 */
function isCurrent(condition: string | undefined, etag: string): boolean {
  const tags = condition?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? [];
  return tags.includes('*') || tags.includes(etag);
}

/**
 * Redirects from `/docs/` to `/docs`, because the URLs in the web page are relative to `/docs`. The target of the
 * redirect is also relative, so that the redirect works if a proxy removes a path prefix from requests.
 */
function redirectToPage(): SendPage {
  return (response) => {
    response.writeHead(308, { Location: '../docs', 'Content-Length': 0 }).end();
  };
}

const sendOptions: SendPage = (response) => {
  response.writeHead(204, { Allow: allow }).end();
};

const refuseMethod: SendPage = (response) => {
  const { status, body } = errorAnswer(new HttpError('method_not_allowed'));
  response.writeHead(status, [...jsonHeaders, 'Allow', allow]).end(body);
};
