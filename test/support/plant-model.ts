import { isDeepStrictEqual } from 'node:util';

export interface ModelPlant {
  readonly name: string;
  readonly tag?: string;
}

/**
 * The names of plants whose creation was acknowledged but that are not listed, of plants whose deletion was
 * acknowledged but that are listed, and of listed plants that were never sent, have the wrong tag or are in the wrong
 * order.
 */
type Findings = Record<'lost' | 'resurrected' | 'phantom', string[]>;

/** The plants that must be stored, according to the responses that clients received. No id is used twice. */
export class PlantModel {
  /** What is known about each plant that was sent, by its name. */
  readonly #states = new Map<string, 'stored' | 'deleted' | 'unknown'>();

  /** Returns the id of a plant that no client has sent yet. */
  newId(user: string): number {
    const id = this.#states.size + 1;
    this.settle(user, id, 'unknown');
    return id;
  }

  /** Records the state of a plant after a write: `unknown` if the write may or may not have taken effect. */
  settle(user: string, id: number, state: 'stored' | 'deleted' | 'unknown'): void {
    this.#states.set(plantOf(user, id).name, state);
  }

  /** Compares a user's complete list with the model. After the comparison, the list determines all unknown states. */
  check(user: string, listed: readonly ModelPlant[]): Findings {
    const findings: Findings = { lost: [], resurrected: [], phantom: [] };
    let before = 0;
    for (const plant of listed) {
      const id = idIn(plant.name);
      const state = this.#states.get(plant.name);
      const isSent = state !== undefined && id > before && isDeepStrictEqual(plant, plantOf(user, id));
      if (!isSent) findings.phantom.push(plant.name);
      else if (state === 'deleted') findings.resurrected.push(plant.name);
      before = id;
    }
    const names = new Set(listed.map(({ name }) => name));
    for (const [name, state] of this.#states) {
      if (!name.startsWith(`${user} `)) continue;
      if (state === 'stored' && !names.has(name)) findings.lost.push(name);
      this.settle(user, idIn(name), names.has(name) ? 'stored' : 'deleted');
    }
    return findings;
  }
}

/** Returns a plant. Every third plant has no tag. */
export function plantOf(user: string, id: number): ModelPlant {
  const name = `${user} ${id}`;
  return id % 3 === 0 ? { name } : { name, tag: `tag ${id}` };
}

function idIn(name: string): number {
  return Number(name.split(' ')[1]);
}
