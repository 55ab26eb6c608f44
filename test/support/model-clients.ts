import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from './eventually.ts';
import { pick } from './pick.ts';
import { plantOf } from './plant-model.ts';
import type { ModelPlant, PlantModel } from './plant-model.ts';

interface ModelClientOptions {
  /** The URLs of the servers. Each request is sent to a random server. */
  readonly urls: readonly string[];
  /** The token of each user. */
  readonly tokens: ReadonlyMap<string, string>;
  readonly clients: number;
  /** The pause after a 503 or a missing response, in milliseconds; default 5. */
  readonly pauseMs?: number;
}

export type ModelClients = ReturnType<typeof startModelClients>;

/** Starts clients that create plants and delete half of them, and record the outcomes in a model. */
export function startModelClients(model: PlantModel, options: ModelClientOptions) {
  const { urls, tokens, clients, pauseMs = 5 } = options;
  /** The number of responses so far, by status. Status 0 counts requests without a response. */
  const statuses = new Map<number, number>();
  /** Responses that contradict earlier responses. */
  const problems: string[] = [];
  /** The longest time between two acknowledgments, and from a request to its response, in milliseconds. */
  const longest = { gapMs: 0, requestMs: 0 };
  let isStopping = false;
  let acknowledgedAt = performance.now();

  /** Sends a write, and records its outcome. Resolves with the status, or with 0 if no complete response arrives. */
  async function write(user: string, id: number, isCreate: boolean): Promise<number> {
    const url = `${pick(urls)}/plants${isCreate ? '' : `/${id}`}`;
    const headers = { authorization: `Bearer ${tokens.get(user) ?? ''}`, 'content-type': 'application/json' };
    const body = isCreate ? JSON.stringify({ id, ...plantOf(user, id) }) : null;
    model.settle(user, id, 'unknown');
    const sentAt = performance.now();
    const status = await fetch(url, { method: isCreate ? 'POST' : 'DELETE', headers, body }).then(
      async (response) => (await response.text(), response.status),
      () => 0,
    );
    const now = performance.now();
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    longest.requestMs = Math.max(longest.requestMs, now - sentAt);
    if (status === (isCreate ? 200 : 204)) {
      model.settle(user, id, isCreate ? 'stored' : 'deleted');
      longest.gapMs = Math.max(longest.gapMs, now - acknowledgedAt);
      acknowledgedAt = now;
    } else if (status !== 503 && status !== 0) {
      problems.push(`${status} to a client that ${isCreate ? 'creates' : 'deletes'} the plant ${id} of ${user}`);
    }
    return status;
  }

  async function runClient(): Promise<void> {
    while (!isStopping) {
      const user = pick([...tokens.keys()]);
      const id = model.newId(user);
      let status = await write(user, id, true);
      if (status === 200 && Math.random() < 0.5) status = await write(user, id, false);
      if (status === 0 || status === 503) await sleep(pauseMs);
    }
  }

  const running = Promise.all(Array.from({ length: clients }, runClient));
  const acknowledged = (): number => (statuses.get(200) ?? 0) + (statuses.get(204) ?? 0);

  /** Resolves when `count` more writes have been acknowledged. */
  async function acknowledgeMore(count: number, withinMs = 60_000): Promise<void> {
    const enough = acknowledged() + count;
    await eventually(() => {
      assert.ok(acknowledged() >= enough, JSON.stringify([...statuses]));
    }, withinMs);
  }

  /** Stops the clients after their current requests. */
  async function stop(): Promise<void> {
    isStopping = true;
    await running;
  }

  /** Stops the clients, and asserts that each server lists exactly the plants that the acknowledged writes left. */
  async function assertNothingLost(servers = urls): Promise<void> {
    await stop();
    assert.deepEqual(problems, []);
    assert.equal(statuses.get(0), undefined, 'Every request got a response.');
    for (const url of servers) {
      for (const [user, token] of tokens) {
        assert.deepEqual(model.check(user, await listAll(url, token)), { lost: [], resurrected: [], phantom: [] });
      }
    }
  }

  return { statuses, problems, longest, acknowledged, acknowledgeMore, stop, assertNothingLost };
}

export async function listAll(url: string, token: string): Promise<ModelPlant[]> {
  const response = await fetch(`${url}/plants`, { headers: { authorization: `Bearer ${token}` } });
  if (response.status !== 200) throw new Error(`A list failed with ${response.status}: ${await response.text()}`);
  return (await response.json()) as ModelPlant[];
}
