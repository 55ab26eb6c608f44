import type { Authenticate, Caller } from '../../src/http.ts';

/** The users that the requests have tokens for. */
export const users = ['ada', 'bob', 'cyn'] as const;
/** A user with more plants than fit on a page, and a token that can only read. */
export const collector = 'dan';
/** A user without a token. No client may read or change these plants. */
export const stranger = 'eve';
/** Part of the name of each plant of the stranger. */
export const secret = 'nobody-may-see-this';

/** All tokens, with their callers. */
export const callers: ReadonlyMap<string, Caller> = new Map<string, Caller>([
  ...users.flatMap((user) => [
    [user, { user }] as const,
    [`${user}-reads`, { user, scopes: ['plants:read'] }] as const,
    [`${user}-writes`, { user, scopes: ['plants:write'] }] as const,
  ]),
  ['dan-reads', { user: collector, scopes: ['plants:read'] }],
]);

export const authenticate: Authenticate = (token) => callers.get(token) ?? null;
