import type { Authenticate, Caller } from '../../src/http.ts';

/** The users for whom the clients have tokens that can write. */
export const users = ['ada', 'bob', 'cyn'] as const;
/** A user with more plants than fit on a page. The user's only token can only read. */
export const collector = 'dan';
/** A user without a token. No client is allowed to read or change this user's plants. */
export const stranger = 'eve';
/** A text that is part of each of the stranger's plant names. */
export const secret = 'nobody-may-see-this';

/** The caller of each token. */
export const callers: ReadonlyMap<string, Caller> = new Map<string, Caller>([
  ...users.flatMap((user) => [
    [user, { user }] as const,
    [`${user}-reads`, { user, scopes: ['plants:read'] }] as const,
    [`${user}-writes`, { user, scopes: ['plants:write'] }] as const,
  ]),
  ['dan-reads', { user: collector, scopes: ['plants:read'] }],
]);

export const authenticate: Authenticate = (token) => callers.get(token) ?? null;
