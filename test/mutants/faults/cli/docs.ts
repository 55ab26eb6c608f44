import { faultsIn } from '../../fault.ts';
import type { Fault } from '../../fault.ts';

const browser = 'test/cli/docs/browser.test.ts';

/** `src/cli/docs`: the page of `serve --docs`. */
export const docsFaults: readonly Fault[] = [
  ...faultsIn(
    'src/cli/docs/find-page.ts',
    ['test/cli/docs/find-page.test.ts'],
    [
      {
        name: 'docs: a browser must load the files again each time',
        find: `if (isCurrent(request.headers['if-none-match'], etag))`,
        replace: `if (request.headers['if-none-match'] === undefined && etag === '')`,
      },
      { name: 'docs: a weak entity tag does not match', find: `.replace(/^W\\//, '')`, replace: '' },
      {
        name: 'docs: browsers may guess the media types',
        find: `    'X-Content-Type-Options': 'nosniff',\n`,
        replace: '',
      },
      { name: 'docs: the redirect loses a path prefix', find: `Location: '../docs'`, replace: `Location: '/docs'` },
      {
        name: 'docs: POST gets the page',
        find: ` ? send(request) : refuseMethod`,
        replace: ` ? send(request) : send(request) ?? refuseMethod`,
      },
    ],
  ),
  ...faultsIn(
    'src/cli/docs/page.ts',
    [browser],
    [
      { name: 'docs page: the policy blocks the icons', find: `"img-src 'self' data:"`, replace: `"img-src 'self'"` },
      {
        name: 'docs page: the policy blocks the requests',
        find: `"connect-src 'self'"`,
        replace: `"connect-src 'none'"`,
      },
      {
        name: 'docs page: the page is wider than a phone',
        find: 'css = `.swagger-ui .response-col_links {\n  display: none;',
        replace: 'css = `.swagger-ui .response-col_links {\n  display: table-cell;',
      },
      {
        name: 'docs page: the page ignores a path prefix',
        find: `url: 'openapi.json'`,
        replace: `url: '/openapi.json'`,
      },
    ],
  ),
  ...faultsIn(
    'src/cli/docs/swagger-ui.ts',
    ['test/cli/docs/find-page.test.ts'],
    [
      {
        name: 'docs: a missing package is an unexpected error',
        find: `!== 'MODULE_NOT_FOUND'`,
        replace: `!== 'ERR_MODULE_NOT_FOUND'`,
      },
    ],
  ),
];
