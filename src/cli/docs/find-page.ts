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
 * Creates the documentation page of a service: Swagger UI at `/docs`, which reads the service's own `/openapi.json`.
 * Other paths are left to the service.
 *
 * @throws {UsageError} if the package swagger-ui-dist is not installed. `source` is the flag or the variable that
 *   requires it.
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
    // Browsers ask each time whether their copy is current, because a new release has the same paths.
    'Cache-Control': 'no-cache',
    ETag: etag,
  };
  return (request) => (response) => {
    if (isCurrent(request.headers['if-none-match'], etag)) response.writeHead(304, headers).end();
    else response.writeHead(200, { ...headers, 'Content-Length': body.length }).end(body);
  };
}

/** Evaluates `If-None-Match` (RFC 9110 §13.1.2). Entity tags are compared weakly. */
function isCurrent(condition: string | undefined, etag: string): boolean {
  const tags = condition?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? [];
  return tags.includes('*') || tags.includes(etag);
}

/** The URLs in the page are relative to `/docs`. The redirect is relative too, so that it works under a prefix. */
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
