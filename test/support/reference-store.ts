import type { Plant } from '../../src/index.ts';

/** A store that is simple and therefore correct. Tests compare the real stores and services with it. */
export class ReferenceStore {
  readonly #users = new Map<string, Map<bigint, Plant>>();

  /** Returns whether the plant was created. If the id is taken, the stored plant does not change. */
  create(user: string, plant: Plant): boolean {
    const plants = this.#plantsOf(user);
    if (plants.has(plant.id)) return false;
    plants.set(plant.id, plant);
    return true;
  }

  /** Returns whether the plant existed. */
  delete(user: string, id: bigint): boolean {
    return this.#plantsOf(user).delete(id);
  }

  list(user: string, { after, limit }: { after?: bigint | undefined; limit?: number | undefined } = {}): Plant[] {
    return Array.from(this.#plantsOf(user).values())
      .filter(({ id }) => after === undefined || id > after)
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .slice(0, limit);
  }

  #plantsOf(user: string): Map<bigint, Plant> {
    const plants = this.#users.get(user) ?? new Map<bigint, Plant>();
    this.#users.set(user, plants);
    return plants;
  }
}
