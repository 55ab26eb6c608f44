import { checkFunctionOption, checkOptionNames } from '../../application/options.ts';

/** The bearer tokens that the tests use. */
export interface ServiceTokens {
  /** A token with full access to the plants of one user. */
  readonly a: string;
  /** A token with full access to the plants of another user. */
  readonly b: string;
  /** A token that permits reading but not writing. Without it, tests of scopes are skipped. */
  readonly readOnly?: string | undefined;
}

/** The argument of a function that starts a server. */
export interface ServerContext {
  /** Registers a function that runs after the last test, for example to stop the server. */
  readonly after: (cleanUp: () => Promise<void> | void) => void;
}

/** Options of `testService`, which describe the server. */
export interface ServiceTestOptions {
  /** The base URL of the server, or a function that starts the server and returns the URL. */
  url: string | ((t: ServerContext) => string | Promise<string>);
  /** Tokens of two users that have no other purpose. */
  tokens: ServiceTokens;
  /** Sends a request; default the global `fetch`. Another function can handle requests in this process. */
  fetch?: ((request: Request) => Promise<Response>) | undefined;
}

/** @throws {TypeError} if an option is invalid; the message names the option. */
export function checkOptions(options: ServiceTestOptions): void {
  checkOptionNames('testService', options, ['url', 'tokens', 'fetch']);
  const { url, tokens, fetch: send = fetch } = options;
  if (typeof url !== 'function') checkUrl(url);
  checkFunctionOption('fetch', send);
  const { a, b, readOnly = a }: Partial<ServiceTokens> = { ...tokens };
  // The syntax of a bearer token (RFC 6750 §2.1).
  for (const [name, token] of Object.entries({ a, b, readOnly })) {
    if (!/^[\w\-.~+/]+=*$/.test(token ?? '')) throw new TypeError(`tokens.${name} must be a bearer token`);
  }
  if (a === b) throw new TypeError('tokens.a and tokens.b must be the tokens of two users');
}

/** Returns a base URL without trailing slashes. Throws a TypeError if the URL is invalid. */
export function checkUrl(text: string): string {
  const url = URL.parse(text);
  const isPlain =
    url !== null && /^https?:$/.test(url.protocol) && url.username + url.password + url.search + url.hash === '';
  // The URL may contain a password.
  const given = text.includes('@') ? '' : `, not '${text}'`;
  if (!isPlain) throw new TypeError(`The URL must be an address such as https://example.com/garden${given}`);
  return url.href.replace(/\/+$/, '');
}
