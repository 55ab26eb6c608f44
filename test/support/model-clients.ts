import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OwnedPlant, Plant } from '../../src/index.ts';
import { ReferenceStore, plantOf, remove } from '../../src/testing/plants.ts';
import { eventually } from './eventually.ts';
import { pick } from './pick.ts';

type ListedPlant = Omit<Plant, 'id'>;

/** The plants that must be stored, according to the responses that clients received. No id is used twice. */
export class PlantModel {
  /** All plants, by their names. */
  readonly #all = new Map<string, OwnedPlant>();
  /** The plants that are stored, or may be stored because the outcome of a write is unknown. */
  readonly #possible = new ReferenceStore();
  /** The names of the plants that must be stored. */
  readonly #certain = new Set<string>();

  /** Returns a plant that no client has sent yet. Every third plant has no tag. */
  newPlant(user: string): OwnedPlant {
    const id = this.#all.size + 1;
    const owned = plantOf(user, id, `${user} ${id}`, id % 3 === 0 ? undefined : `tag ${id}`);
    this.#all.set(owned.plant.name, owned);
    return owned;
  }

  /** Records the state of a plant after a write: `unknown` if the write may or may not have taken effect. */
  settle({ user, plant }: OwnedPlant, state: 'stored' | 'deleted' | 'unknown'): void {
    this.#possible.apply(state === 'deleted' ? remove(plant.id, user) : { kind: 'create', user, plant });
    if (state === 'stored') this.#certain.add(plant.name);
    else this.#certain.delete(plant.name);
  }

  /**
   * Compares a user's complete list with the model. Returns the names of wrong plants: lost plants must be listed but
   * are not, resurrected plants must not be listed but are, and phantom plants were never sent, have a wrong tag or are
   * in the wrong order. After the comparison, the list determines all unknown states.
   */
  check(user: string, listed: readonly ListedPlant[]) {
    const findings = { lost: [] as string[], resurrected: [] as string[], phantom: [] as string[] };
    const names = new Set(listed.map(({ name }) => name));
    for (const plant of this.#possible.list(user)) {
      if (this.#certain.has(plant.name) && !names.has(plant.name)) findings.lost.push(plant.name);
      this.settle({ user, plant }, names.has(plant.name) ? 'stored' : 'deleted');
    }
    let before = 0n;
    for (const { name, tag } of listed) {
      const sent = this.#all.get(name);
      if (sent?.user !== user || sent.plant.tag !== tag || sent.plant.id <= before) {
        findings.phantom.push(name);
      } else if (!this.#certain.has(name)) {
        findings.resurrected.push(name);
        this.settle(sent, 'stored');
      }
      before = sent?.plant.id ?? before;
    }
    return findings;
  }
}

interface ModelClientOptions {
  /** The URLs of the servers. Each request is sent to a random server. */
  readonly urls: readonly string[];
  /** The token of each user. */
  readonly tokens: ReadonlyMap<string, string>;
  readonly clients: number;
  /** The model of a service that other clients have used before. */
  readonly model?: PlantModel;
  /** The pause after a 503 or a missing response, in milliseconds; default 5. */
  readonly pauseMs?: number;
}

export type ModelClients = ReturnType<typeof startModelClients>;

/** Starts clients that create plants and delete half of them, and record the outcomes in a model. */
export function startModelClients(options: ModelClientOptions) {
  const { urls, tokens, clients, model = new PlantModel(), pauseMs = 5 } = options;
  /** The number of responses so far, by status. Status 0 counts requests without a response. */
  const statuses = new Map<number, number>();
  /** Responses with a status that must not occur, such as 404 to the delete of a stored plant. */
  const problems: string[] = [];
  /** The longest time between two acknowledgments, and from a request to its response, in milliseconds. */
  const longest = { gapMs: 0, requestMs: 0 };
  let isStopping = false;
  let acknowledgedAt = performance.now();

  /** Sends a write, and records its outcome. Resolves with the status, or with 0 if no complete response arrives. */
  async function write(sent: OwnedPlant, isCreate: boolean): Promise<number> {
    const { user, plant } = sent;
    const url = `${pick(urls)}/plants${isCreate ? '' : `/${plant.id}`}`;
    const headers = { authorization: `Bearer ${tokens.get(user) ?? ''}`, 'content-type': 'application/json' };
    const body = isCreate ? JSON.stringify({ ...plant, id: Number(plant.id) }) : null;
    model.settle(sent, 'unknown');
    const sentAt = performance.now();
    const status = await fetch(url, { method: isCreate ? 'POST' : 'DELETE', headers, body }).then(
      async (response) => (await response.text(), response.status),
      () => 0,
    );
    const now = performance.now();
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    longest.requestMs = Math.max(longest.requestMs, now - sentAt);
    if (status === (isCreate ? 200 : 204)) {
      model.settle(sent, isCreate ? 'stored' : 'deleted');
      longest.gapMs = Math.max(longest.gapMs, now - acknowledgedAt);
      acknowledgedAt = now;
    } else if (status !== 503 && status !== 0) {
      problems.push(`${status} to a client that ${isCreate ? 'creates' : 'deletes'} the plant ${plant.name}`);
    }
    return status;
  }

  async function runClient(): Promise<void> {
    while (!isStopping) {
      const sent = model.newPlant(pick([...tokens.keys()]));
      let status = await write(sent, true);
      if (status === 200 && Math.random() < 0.5) status = await write(sent, false);
      if (status === 0 || status === 503) await sleep(pauseMs);
    }
  }

  const running = Promise.all(Array.from({ length: clients }, runClient));
  const acknowledged = (): number => (statuses.get(200) ?? 0) + (statuses.get(204) ?? 0);

  async function untilMore(read: () => number, count: number, withinMs = 120_000): Promise<void> {
    const enough = read() + count;
    await eventually(() => {
      assert.ok(read() >= enough, JSON.stringify([...statuses]));
    }, withinMs);
  }
  const acknowledgeMore = (count: number, withinMs?: number) => untilMore(acknowledged, count, withinMs);
  /** Resolves when `count` more writes have failed with 503. */
  const failMore = (count: number) => untilMore(() => statuses.get(503) ?? 0, count);

  /** Stops the clients after their current requests. */
  async function stop(): Promise<void> {
    isStopping = true;
    await running;
  }

  /** Stops the clients, and asserts that each server lists exactly the plants that the acknowledged writes left. */
  async function assertNothingLost(servers = urls): Promise<void> {
    await stop();
    assert.deepEqual(problems, []);
    assert.equal(statuses.get(0), undefined, 'Some requests got no response.');
    for (const url of servers) {
      for (const [user, token] of tokens) {
        assert.deepEqual(model.check(user, await listAll(url, token)), { lost: [], resurrected: [], phantom: [] });
      }
    }
  }

  return { statuses, problems, longest, acknowledged, acknowledgeMore, failMore, stop, assertNothingLost };
}

export async function listAll(url: string, token: string): Promise<ListedPlant[]> {
  const response = await fetch(`${url}/plants`, { headers: { authorization: `Bearer ${token}` } });
  if (response.status !== 200) throw new Error(`A list failed with ${response.status}: ${await response.text()}`);
  return (await response.json()) as ListedPlant[];
}
