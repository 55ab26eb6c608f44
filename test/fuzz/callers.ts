import type { Authenticate, Caller } from '../../src/http.ts';

/** Whom the requests speak for. */
export const users = ['ada', 'bob', 'cyn'] as const;
/** Has more plants than a page holds, and a token that only reads. */
export const collector = 'dan';
/** Nobody holds a token of hers, so nobody may see her plants or change them. */
export const stranger = 'eve';
/** In the name of each of her plants. */
export const secret = 'nobody-may-see-this';

/** All tokens there are. */
export const callers: ReadonlyMap<string, Caller> = new Map<string, Caller>([
  ...users.map((user) => [user, { user }] as const),
  ['ada-reads', { user: 'ada', scopes: ['plants:read'] }],
  ['ada-writes', { user: 'ada', scopes: ['plants:write'] }],
  ['dan-reads', { user: collector, scopes: ['plants:read'] }],
]);

export const authenticate: Authenticate = (token) => callers.get(token) ?? null;
