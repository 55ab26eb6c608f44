import { generateKeyPairSync, sign as signBytes } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { createServer } from 'node:http';
import { listenUrl } from '../support/listen.ts';
import type { HasAfter } from '../support/temporary-folder.ts';

/** Claims that replace those of a valid token. */
type Claims = Readonly<Record<string, string | number | undefined>>;

/** A local OpenID Connect provider that publishes its keys. */
export interface Issuer {
  readonly url: string;
  /** Returns an access token for ada with both scopes. */
  sign(claims?: Claims): Promise<string>;
  /** Returns such a token, signed with a key that is not published. */
  signByStranger(): Promise<string>;
}

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Starts an issuer. It is stopped after the test. */
export async function startIssuer(t: HasAfter): Promise<Issuer> {
  const [own, stranger] = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')];
  const keys = [{ ...own.publicKey.export({ format: 'jwk' }), kid: 'own', alg: 'EdDSA', use: 'sig' }];
  const server = createServer((request, response) => {
    if (request.url === '/.well-known/jwks.json') response.end(JSON.stringify({ keys }));
    else response.writeHead(503).end();
  });
  const url = await listenUrl(t, server);

  async function signWith(key: KeyObject, claims: Claims = {}): Promise<string> {
    const exp = Math.floor(Date.now() / 1000) + 600;
    const payload = { iss: url, aud: 'plants', sub: 'ada', exp, scope: 'plants:read plants:write', ...claims };
    const text = `${encode({ alg: 'EdDSA', kid: 'own', typ: 'at+jwt' })}.${encode(payload)}`;
    return `${text}.${signBytes(null, Buffer.from(text), key).toString('base64url')}`;
  }

  return {
    url,
    sign: (claims) => signWith(own.privateKey, claims),
    signByStranger: () => signWith(stranger.privateKey),
  };
}
