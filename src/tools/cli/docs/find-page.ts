import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { FindPage } from '../../../http/node/request-listener.ts';
import { splitTarget } from '../../../http/routes.ts';
import { UsageError } from '../command.ts';
import { installCommand } from '../package.ts';
import { contentSecurityPolicy, css, html, startScript } from './page.ts';

/**
 * Creates a function that finds the files of the documentation page by the request path, with or without the prefix
 * `basePath`. The page is Swagger UI at `/docs`, which loads the service's own `/openapi.json`. For a request that does
 * not belong to the page, the function returns `undefined`, and the service handles the request.
 *
 * @throws {UsageError} if the swagger-ui-dist package, an optional peer dependency, is not installed. `source` is the
 *   flag or the environment variable that enables the page.
 */
export function createDocs(source: string, basePath: string): FindPage {
  const folder = findSwaggerUi(source);
  const asset = (name: string): Buffer => readFileSync(join(folder, name));
  const [styles, script] = ['text/css; charset=utf-8', 'text/javascript; charset=utf-8'];
  const files = new Map<string, [mediaType: string, body: string | Buffer]>([
    ['/docs', ['text/html; charset=utf-8', html]],
    ['/docs/page.css', [styles, css]],
    ['/docs/start.js', [script, startScript]],
    ['/docs/swagger-ui-bundle.js', [script, asset('swagger-ui-bundle.js')]],
    ['/docs/swagger-ui.css', [styles, asset('swagger-ui.css')]],
    ['/docs/icon.png', ['image/png', asset('favicon-32x32.png')]],
  ]);
  return ({ method = '', url = '' }) => {
    if (method !== 'GET' && method !== 'HEAD') return undefined;
    const target = splitTarget(url).path;
    const path = target.startsWith(`${basePath}/docs`) ? target.slice(basePath.length) : target;
    if (path === '/docs/') {
      // The URLs in the web page are relative to `/docs`, not to `/docs/`. The target of the redirect is also relative,
      // so that the redirect works even if a proxy removes a path prefix from requests.
      return (response) => response.writeHead(308, { Location: '../docs', 'Content-Length': 0 }).end();
    }
    const file = files.get(path);
    if (file === undefined) return undefined;
    const [mediaType, body] = file;
    const headers = {
      'Content-Type': mediaType,
      'Content-Length': Buffer.byteLength(body),
      'X-Content-Type-Options': 'nosniff',
      'Content-Security-Policy': contentSecurityPolicy,
      'Referrer-Policy': 'no-referrer',
      // Files are cached only briefly, because a new release serves its files at the same paths.
      'Cache-Control': 'max-age=600',
    };
    return (response) => response.writeHead(200, headers).end(body);
  };
}

function findSwaggerUi(source: string): string {
  try {
    return dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    const command = installCommand('swagger-ui-dist');
    throw new UsageError(`${source} needs the package swagger-ui-dist. Run ${command}.`, { cause: error });
  }
}
