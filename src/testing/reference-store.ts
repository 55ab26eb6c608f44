import type { Plant, PlantId } from '../core/model/plant.ts';
import type { OwnedPlant, Write } from '../core/storage-adapter.ts';

/** A simple store of plants, with which tests compare storages and services. */
export class ReferenceStore {
  readonly #plants = new Map<string, OwnedPlant>();

  constructor(plants: readonly OwnedPlant[] = []) {
    for (const { user, plant } of plants) this.create(user, plant);
  }

  /** Returns whether the plant was created. If the id is taken, the stored plant does not change. */
  create(user: string, plant: Plant): boolean {
    const key = `${user} ${plant.id}`;
    if (this.#plants.has(key)) return false;
    this.#plants.set(key, { user, plant });
    return true;
  }

  /** Returns whether the plant existed. */
  delete(user: string, id: PlantId): boolean {
    return this.#plants.delete(`${user} ${id}`);
  }

  apply(write: Write): boolean {
    return write.kind === 'create' ? this.create(write.user, write.plant) : this.delete(write.user, write.id);
  }

  list(user: string, { after, limit }: { after?: PlantId | undefined; limit?: number | undefined } = {}): Plant[] {
    const owned = [...this.#plants.values()].filter((each) => each.user === user);
    const plants = owned.map(({ plant }) => plant).filter(({ id }) => after === undefined || id > after);
    return plants.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, limit);
  }

  /** Returns all plants, sorted by user and id. */
  scan(): OwnedPlant[] {
    const byKey = (a: OwnedPlant, b: OwnedPlant): boolean =>
      a.user === b.user ? a.plant.id < b.plant.id : a.user < b.user;
    return [...this.#plants.values()].sort((a, b) => (byKey(a, b) ? -1 : 1));
  }
}
