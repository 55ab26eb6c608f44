import { isDeepStrictEqual } from 'node:util';
import type { StoredPlant } from '../../src/index.ts';
import { rule } from './finding.ts';
import type { Operation } from './expectation.ts';

export type Write = Extract<Operation, { kind: 'create' | 'delete' }>;

/** What happened to one plant of one user. */
interface Account {
  readonly candidates: StoredPlant[];
  /** How many are there by what was acknowledged: 0 or 1. */
  balance: number;
  /** Writes of which nobody knows whether they were made. */
  openCreates: number;
  openDeletes: number;
}

/** All writes of a case, and what they must have left in the store. */
export class Ledger {
  readonly #accounts = new Map<string, Map<bigint, Account>>();
  readonly #sent = new Map<string, StoredPlant[]>();

  constructor(initial: Iterable<readonly [user: string, plant: StoredPlant]>) {
    for (const [user, plant] of initial) {
      const account = this.#account(user, plant.id);
      account.balance = 1;
      account.candidates.push(plant);
    }
  }

  /** Notes a plant that was sent, whatever became of it. */
  send(user: string, plant: StoredPlant): void {
    this.#sent.set(user, [...(this.#sent.get(user) ?? []), plant]);
  }

  /** Notes a write that was acknowledged. */
  acknowledge(write: Write): void {
    const account = this.#account(write.user, idOf(write));
    account.balance += write.kind === 'create' ? 1 : -1;
    if (write.kind === 'create') account.candidates.push(write.plant);
  }

  /** Notes a write that was sent and not answered: it may have been made or not. */
  leaveOpen(write: Write): void {
    const account = this.#account(write.user, idOf(write));
    if (write.kind === 'create') {
      account.openCreates++;
      account.candidates.push(write.plant);
    } else {
      account.openDeletes++;
    }
  }

  /** Whether a user's plant is there, where all writes to it so far came in a known order. */
  has(user: string, id: bigint): boolean {
    return this.#account(user, id).balance > 0;
  }

  /** A user's plants in ascending id, where all writes so far came in a known order. */
  plantsOf(user: string): StoredPlant[] {
    const accounts = [...(this.#accounts.get(user)?.values() ?? [])].filter(({ balance }) => balance > 0);
    return accounts.flatMap(({ candidates }) => candidates.slice(-1)).sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** Every plant that the user had, or may have had, at any time. */
  candidatesOf(user: string): StoredPlant[] {
    return [
      ...[...(this.#accounts.get(user)?.values() ?? [])].flatMap(({ candidates }) => candidates),
      ...(this.#sent.get(user) ?? []),
    ];
  }

  /** Holds what the store has for a user against what was written. */
  check(user: string, stored: readonly StoredPlant[]): void {
    const byId = new Map(stored.map((plant) => [plant.id, plant]));
    rule(byId.size === stored.length, () => `${user} has an id twice: ${show(stored)}`);
    for (const [id, plant] of byId) {
      const account = this.#account(user, id);
      rule(
        account.balance + account.openCreates > 0,
        () => `${user} has a plant that nobody created: ${show([plant])}`,
      );
      rule(
        account.candidates.some((candidate) => isDeepStrictEqual(candidate, plant)),
        () => `${user} has ${show([plant])}, which was sent as ${show(account.candidates)}`,
      );
    }
    for (const [id, { balance, openCreates, openDeletes, candidates }] of this.#accounts.get(user) ?? []) {
      const count = byId.has(id) ? 1 : 0;
      const isBalanced = count <= balance + openCreates && count >= balance - openDeletes;
      rule(
        isBalanced,
        () =>
          `${user} has ${count} of ${show(candidates)}, but ${balance} by what was acknowledged (open: +${openCreates} −${openDeletes})`,
      );
    }
  }

  #account(user: string, id: bigint): Account {
    let accounts = this.#accounts.get(user);
    if (accounts === undefined) this.#accounts.set(user, (accounts = new Map<bigint, Account>()));
    let account = accounts.get(id);
    if (account === undefined) {
      accounts.set(id, (account = { candidates: [], balance: 0, openCreates: 0, openDeletes: 0 }));
    }
    return account;
  }
}

function idOf(write: Write): bigint {
  return write.kind === 'create' ? write.plant.id : write.id;
}

function show(plants: readonly StoredPlant[]): string {
  return plants.map(({ id, ...rest }) => `${id} ${JSON.stringify(rest)}`).join(', ');
}
