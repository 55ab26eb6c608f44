import type { Plant, PlantId } from '../core/model/plant.ts';
import type { OwnedPlant, Write } from '../core/storage-adapter.ts';

/** A store of plants that is simple and therefore correct. Tests compare storages and services with it. */
export class ReferenceStore {
  readonly #users = new Map<string, Map<PlantId, Plant>>();

  constructor(plants: readonly OwnedPlant[] = []) {
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
  delete(user: string, id: PlantId): boolean {
    return this.#plantsOf(user).delete(id);
  }

  apply(write: Write): boolean {
    return write.kind === 'create' ? this.create(write.user, write.plant) : this.delete(write.user, write.id);
  }

  list(user: string, { after, limit }: { after?: PlantId | undefined; limit?: number | undefined } = {}): Plant[] {
    return Array.from(this.#plantsOf(user).values())
      .filter(({ id }) => after === undefined || id > after)
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .slice(0, limit);
  }

  /** Returns all plants, sorted by user and id. */
  scan(): OwnedPlant[] {
    return [...this.#users.keys()].sort().flatMap((user) => this.list(user).map((plant) => ({ user, plant })));
  }

  #plantsOf(user: string): Map<PlantId, Plant> {
    const plants = this.#users.get(user) ?? new Map<PlantId, Plant>();
    this.#users.set(user, plants);
    return plants;
  }
}
