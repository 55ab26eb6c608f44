export interface ModelKey {
  readonly user: string;
  readonly id: number;
}

/** The name of a plant, which identifies the request that created the plant; `undefined` if there is no plant. */
export type PlantState = string | undefined;

export interface ListedPlant {
  readonly name: string;
  readonly tag?: string;
}

/** The differences between a list and the model, with one line for each difference. */
export interface Findings {
  /** Plants whose creation was acknowledged but that are not listed. */
  readonly lost: string[];
  /** Plants whose deletion was acknowledged but that are listed. */
  readonly resurrected: string[];
  /** Listed plants that were never sent, have the wrong tag, are listed twice, or are in the wrong order. */
  readonly phantom: string[];
}

/**
 * The plants that a store must contain, according to its responses. Only one client at a time is allowed to write to a
 * key.
 */
export class PlantModel {
  readonly #states = new Map<string, Map<number, readonly PlantState[]>>();
  readonly #sent = new Set<string>();

  /** Returns a name that no other request contains. */
  newName({ user, id }: ModelKey): string {
    const name = `${id}/${this.#sent.size}`;
    this.#sent.add(`${user} ${name}`);
    return name;
  }

  /**
   * Returns the possible states of a plant. A plant can have several possible states after a write whose outcome is
   * unknown.
   */
  states({ user, id }: ModelKey): readonly PlantState[] {
    return this.#of(user).get(id) ?? [undefined];
  }

  settle({ user, id }: ModelKey, states: readonly PlantState[]): void {
    this.#of(user).set(id, states);
  }

  /** Adds a possible state after a write whose outcome is unknown. */
  allow(key: ModelKey, state: PlantState): void {
    this.settle(key, [...new Set([...this.states(key), state])]);
  }

  /** Compares a user's complete list with the model. After the comparison, the list determines all unknown outcomes. */
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

/** Returns the tag of the plant with the given name. Every third plant has no tag. */
export function tagOf(name: string): string | undefined {
  const serial = Number(name.split('/')[1]);
  return serial % 3 === 0 ? undefined : `tag ${serial}`;
}
