import type { PlantId, StoredPlant } from '../model/plant.ts';
import { fail, visible } from './expect.ts';
import type { ListRange, Write } from '../storage/storage-adapter.ts';

/** Ids by user. */
class UserIds {
  readonly #ids = new Map<string, Set<PlantId>>();

  add(user: string, id: PlantId): void {
    const ids = this.#ids.get(user);
    if (ids === undefined) this.#ids.set(user, new Set([id]));
    else ids.add(id);
  }

  has(user: string, id: PlantId): boolean {
    return this.#ids.get(user)?.has(id) === true;
  }

  of(user: string): PlantId[] {
    return [...(this.#ids.get(user) ?? [])];
  }

  /** Returns a user that has this id. */
  userWith(id: PlantId, { except }: { except: string }): string | undefined {
    return [...this.#ids.keys()].find((user) => user !== except && this.has(user, id));
  }
}

/** The writes that a test has passed to its adapters, whether they succeeded or not. */
export class AttemptedWrites {
  readonly #creates = new UserIds();
  readonly #deletes = new UserIds();

  add(writes: readonly Write[]): void {
    for (const write of writes) {
      if (write.kind === 'create') this.#creates.add(write.user, write.plant.id);
      else this.#deletes.add(write.user, write.id);
    }
  }

  includesDelete(user: string, id: PlantId): boolean {
    return this.#deletes.has(user, id);
  }

  /** Throws a ContractError if the plants, which `call` returned for this user, include a plant of another user. */
  checkUser(call: string, user: string, plants: readonly StoredPlant[]): void {
    const seen = new Set<PlantId>();
    for (const { id } of plants) {
      const isRepeated = seen.has(id);
      seen.add(id);
      if (this.#creates.has(user, id) && !isRepeated) continue;
      const other = this.#creates.userWith(id, { except: user });
      if (other === undefined) continue;
      const returned = `${call} returned ${id} for the user ${visible(user)}`;
      const fault = isRepeated
        ? `${returned} more than once. Other users, such as ${visible(other)}, also have a plant with this id.`
        : `${returned}, but only other users, such as ${visible(other)}, have a plant with this id.`;
      fail(`${fault} list must return only the plants of the given user.`);
    }
  }
}

/** The plants that an adapter must return: its commits have created them, and no commit may have deleted them. */
export class CreatedPlants {
  readonly #created = new UserIds();
  readonly #attempted: AttemptedWrites;

  constructor(attempted: AttemptedWrites) {
    this.#attempted = attempted;
  }

  /** Adds the plants whose creates returned `true`. */
  add(writes: readonly Write[], outcomes: readonly boolean[]): void {
    for (const [index, write] of writes.entries()) {
      if (write.kind === 'create' && outcomes[index] === true) this.#created.add(write.user, write.plant.id);
    }
  }

  /**
   * Returns a function that checks the result of a `list` call which starts now. The function throws a ContractError
   * if a plant is missing between the start and the end of the page. An empty page is the end of the list.
   */
  expectIn(user: string, { after }: ListRange): (call: string, page: readonly StoredPlant[]) => void {
    const due = this.#created.of(user).filter((id) => after === undefined || id > after);
    return (call, page) => {
      const returned = new Set(page.map(({ id }) => id));
      const last = page.at(-1)?.id;
      const missing = due.find(
        (id) => !returned.has(id) && (last === undefined || id < last) && !this.#attempted.includesDelete(user, id),
      );
      if (missing === undefined) return;
      fail(
        `${call} did not return plant ${missing} of the user ${visible(user)}, ` +
          'although its create had returned true. ' +
          'When a commit resolves, every later list must return the plants that it created.',
      );
    };
  }
}
