import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import type { ServiceListener } from '../http/node/listener.ts';
import { splitTarget } from '../http/routes.ts';
import { loadOptional } from './command-line.ts';

/** All URLs are relative, so that the page works even if a proxy removes a path prefix from requests. */
const html = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Plant Store</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="docs/swagger-ui.css">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <noscript>This page requires JavaScript.</noscript>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/start.js"></script>
  </body>
</html>
`;

/** Because `validatorUrl` is null, Swagger UI does not send the OpenAPI document to a validator on another host. */
const startScript = `SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#swagger-ui',
  tryItOutEnabled: true,
  validatorUrl: null,
});
`;

const securityHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  // Swagger UI 5.35.0 needs exactly these sources. The icons in its style sheet are data URLs.
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};

/** Returns a function that adds Swagger UI to a listener, at `/docs` with or without the prefix `basePath`. */
export function createDocs(source: string, basePath: string): (listener: ServiceListener) => RequestListener {
  const findAssets = loadOptional('swagger-ui-dist/absolute-path.js', source) as () => string;
  const asset = (name: string): Buffer => readFileSync(join(findAssets(), name));
  const files = new Map<string, [mediaType: string, body: string | Buffer]>([
    ['/docs', ['text/html; charset=utf-8', html]],
    ['/docs/start.js', ['text/javascript; charset=utf-8', startScript]],
    ['/docs/swagger-ui-bundle.js', ['text/javascript; charset=utf-8', asset('swagger-ui-bundle.js')]],
    ['/docs/swagger-ui.css', ['text/css; charset=utf-8', asset('swagger-ui.css')]],
  ]);
  return (listener) => (request, response) => {
    const { method = '', url = '' } = request;
    const target = splitTarget(url).path;
    const path = target.startsWith(`${basePath}/docs`) ? target.slice(basePath.length) : target;
    const isRead = method === 'GET' || method === 'HEAD';
    const file = isRead ? files.get(path) : undefined;
    if (isRead && path === '/docs/') {
      response.writeHead(308, { Location: '../docs' }).end();
    } else if (file === undefined) {
      void listener(request, response);
    } else {
      const [mediaType, body] = file;
      response.writeHead(200, { 'Content-Type': mediaType, ...securityHeaders }).end(body);
    }
  };
}
