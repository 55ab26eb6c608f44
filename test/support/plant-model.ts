/** Whose plant, and which. */
export interface ModelKey {
  readonly user: string;
  readonly id: number;
}

/** The name that a plant has, which tells which request made it; `undefined` where there is no plant. */
export type PlantState = string | undefined;

/** A plant as a list shows it. */
export interface ListedPlant {
  readonly name: string;
  readonly tag?: string;
}

/** What a list shows that it must not, or does not show and must: one line for each. */
export interface Findings {
  /** Acknowledged, and not there. */
  readonly lost: string[];
  /** Acknowledged as deleted, and there. */
  readonly resurrected: string[];
  /** There without ever having been sent, with another tag, twice, or out of order. */
  readonly phantom: string[];
}

/** What must be in a store, by what its clients were answered. Each key is written to by one client at a time. */
export class PlantModel {
  readonly #states = new Map<string, Map<number, readonly PlantState[]>>();
  readonly #sent = new Set<string>();

  /** A name that no other request carries. */
  newName({ user, id }: ModelKey): string {
    const name = `${id}/${this.#sent.size}`;
    this.#sent.add(`${user} ${name}`);
    return name;
  }

  /** What may be there: one state, or several after a write without an answer. */
  states({ user, id }: ModelKey): readonly PlantState[] {
    return this.#of(user).get(id) ?? [undefined];
  }

  /** An answer told what is there. */
  settle({ user, id }: ModelKey, states: readonly PlantState[]): void {
    this.#of(user).set(id, states);
  }

  /** There was no answer: from now on this may be there as well. */
  allow(key: ModelKey, state: PlantState): void {
    this.settle(key, [...new Set([...this.states(key), state])]);
  }

  /** Compares a user's whole list with what must be in it; what was open is settled by it. */
  check(user: string, listed: readonly ListedPlant[]): Findings {
    const findings: Findings = { lost: [], resurrected: [], phantom: [] };
    const left = new Map(this.#of(user));
    let before = -Infinity;
    for (const { name, tag } of listed) {
      const id = parseInt(name, 10);
      const line = `${user} ${name}${tag === undefined ? '' : ` (${tag})`}`;
      if (!this.#sent.has(`${user} ${name}`) || tag !== tagOf(name) || id <= before) {
        findings.phantom.push(line);
        continue;
      }
      before = id;
      if (!this.states({ user, id }).includes(name)) {
        findings.resurrected.push(`${line}, not ${this.states({ user, id }).join(' or ')}`);
      }
      left.delete(id);
      this.settle({ user, id }, [name]);
    }
    for (const [id, states] of left) {
      if (!states.includes(undefined)) findings.lost.push(`${user} ${states.join(' or ')}`);
      this.settle({ user, id }, [undefined]);
    }
    return findings;
  }

  #of(user: string): Map<number, readonly PlantState[]> {
    const states = this.#states.get(user) ?? new Map<number, readonly PlantState[]>();
    this.#states.set(user, states);
    return states;
  }
}

/** The tag that goes with a name; every third plant has none. */
export function tagOf(name: string): string | undefined {
  const serial = Number(name.split('/')[1]);
  return serial % 3 === 0 ? undefined : `tag ${serial}`;
}
