import type { OwnedPlant, Write } from '../../src/adapter.ts';
import type { Plant } from '../../src/index.ts';

/** A store that is simple and therefore correct. Tests compare the real stores and services with it. */
export class ReferenceStore {
  readonly #users = new Map<string, Map<bigint, Plant>>();

  constructor(plants: Iterable<OwnedPlant> = []) {
    for (const { user, plant } of plants) this.create(user, plant);
  }

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

  /** Performs one write of a commit. Returns its outcome. */
  apply(write: Write): boolean {
    return write.kind === 'create' ? this.create(write.user, write.plant) : this.delete(write.user, write.id);
  }

  copy(): ReferenceStore {
    const copy = new ReferenceStore();
    for (const [user, plants] of this.#users) copy.#users.set(user, new Map(plants));
    return copy;
  }

  #plantsOf(user: string): Map<bigint, Plant> {
    const plants = this.#users.get(user) ?? new Map<bigint, Plant>();
    this.#users.set(user, plants);
    return plants;
  }
}
