import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from './eventually.ts';
import { tagOf } from './plant-model.ts';
import type { ListedPlant, ModelKey, PlantModel } from './plant-model.ts';

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface ModelClientOptions {
  /** The URLs of the servers. Each request is sent to a random server. */
  readonly urls: readonly string[];
  readonly tokens: ReadonlyMap<string, string>;
  readonly clients: number;
  /** The number of ids that each client uses for each user; default 30. */
  readonly idsEach?: number;
  /** Returns a number that is at least 0 and less than 1. */
  readonly random: () => number;
  /** The pause after a 503 or a missing response, in milliseconds; default 5. */
  readonly pauseMs?: number;
}

/** Clients that create and delete plants, and record the outcomes in a model. */
export interface ModelClients {
  /** The number of responses so far, by status. Status 0 counts requests without a response. */
  readonly statuses: Map<number, number>;
  readonly problems: string[];
  /**
   * The longest time between two acknowledgments, and the longest time from a request to its response, in milliseconds.
   */
  readonly longest: { gapMs: number; requestMs: number };
  acknowledged(): number;
  /** Resolves when `count` more writes have been acknowledged. Rejects after `withinMs` milliseconds. */
  acknowledgeMore(count: number, withinMs: number): Promise<void>;
  /** Stops the clients after their current requests. */
  stop(): Promise<void>;
}

/**
 * Starts clients, which stop when no server listens. The model assumes that a request without a response might have
 * taken effect, unless `isUnansweredUndone` returns true when the request fails.
 */
export function startModelClients(
  model: PlantModel,
  options: ModelClientOptions,
  isUnansweredUndone: () => boolean = () => false,
): ModelClients {
  const { urls, tokens, clients, idsEach = 30, random, pauseMs = 5 } = options;
  const statuses = new Map<number, number>();
  const problems: string[] = [];
  const longest = { gapMs: 0, requestMs: 0 };
  const users = [...tokens.keys()];
  let isStopping = false;
  let acknowledgedAt = performance.now();

  const pick = (from: readonly string[]): string => from[Math.floor(random() * from.length)] ?? '';

  async function writeOne(agent: Agent, url: string, key: ModelKey): Promise<number | 'refused'> {
    const states = model.states(key);
    const isCreate = random() < (states.includes(undefined) ? 0.9 : 0.1);
    const name = isCreate ? model.newName(key) : undefined;
    const body = name === undefined ? undefined : JSON.stringify({ id: key.id, name, tag: tagOf(name) });
    const target = isCreate ? '/plants' : `/plants/${key.id}`;
    const answer = await send(agent, url + target, tokens.get(key.user) ?? '', body);
    if (answer === 'refused') return answer;
    if (answer === undefined) {
      if (!isUnansweredUndone()) model.allow(key, name);
      return 0;
    }
    const there = states.filter((state) => state !== undefined);
    if (answer.status === (isCreate ? 200 : 204)) {
      if (isCreate ? !states.includes(undefined) : there.length === 0) {
        problems.push(`${answer.status} for ${key.user} ${key.id}, which is ${describe(states)}`);
      }
      model.settle(key, [name]);
    } else if (isCreate && answer.status === 400) {
      if (there.length === 0) problems.push(`taken: ${key.user} ${key.id}, which is ${describe(states)}`);
      else model.settle(key, there);
    } else if (!isCreate && answer.status === 404) {
      if (!states.includes(undefined)) problems.push(`absent: ${key.user} ${key.id}, which is ${describe(states)}`);
      model.settle(key, [undefined]);
    } else if (answer.status === 503) {
      model.allow(key, name);
      if (answer.headers['retry-after'] === undefined || !/^\{"error":50300,"message":"[^"]+"\}$/.test(answer.body)) {
        problems.push(`503 with ${JSON.stringify(answer.headers)} ${answer.body}`);
      }
    } else {
      problems.push(`${answer.status}: ${answer.body}`);
    }
    return answer.status;
  }

  async function runClient(_: unknown, client: number): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const alive = [...urls];
    while (!isStopping && alive.length > 0) {
      const url = pick(alive);
      const user = pick(users);
      const id = Math.floor(random() * idsEach) * clients + client;
      const sentAt = performance.now();
      const status = await writeOne(agent, url, { user, id });
      if (status === 'refused') {
        alive.splice(alive.indexOf(url), 1);
        continue;
      }
      const now = performance.now();
      longest.requestMs = Math.max(longest.requestMs, now - sentAt);
      if (status === 200 || status === 204) {
        longest.gapMs = Math.max(longest.gapMs, now - acknowledgedAt);
        acknowledgedAt = now;
      }
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (status === 0 || status === 503) await sleep(pauseMs);
    }
    agent.destroy();
  }

  const running = Promise.all(Array.from({ length: clients }, runClient));
  const acknowledged = (): number => (statuses.get(200) ?? 0) + (statuses.get(204) ?? 0);
  return {
    statuses,
    problems,
    longest,
    acknowledged,
    acknowledgeMore: async (count, withinMs) => {
      const enough = acknowledged() + count;
      await eventually(() => {
        assert.ok(acknowledged() >= enough, JSON.stringify([...statuses]));
      }, withinMs);
    },
    stop: async () => {
      isStopping = true;
      await running;
    },
  };
}

export async function listAll(url: string, token: string): Promise<ListedPlant[]> {
  const response = await fetch(`${url}/plants`, { headers: { authorization: `Bearer ${token}` } });
  if (response.status !== 200) throw new Error(`A list failed with ${response.status}: ${await response.text()}`);
  return (await response.json()) as ListedPlant[];
}

function describe(states: readonly (string | undefined)[]): string {
  return states.map((state) => state ?? 'absent').join(' or ');
}

/**
 * Sends a POST request if there is a body, and a DELETE request otherwise. Resolves with `undefined` if no complete
 * response arrives, and with `refused` if no server listens.
 */
async function send(agent: Agent, url: string, token: string, body?: string): Promise<Answer | 'refused' | undefined> {
  const sent = request(url, {
    agent,
    method: body === undefined ? 'DELETE' : 'POST',
    headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
  });
  // If an error occurs after the response has begun, reading the body also rejects.
  sent.on('error', () => undefined).end(body);
  try {
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const { statusCode: status = 0, headers } = response;
    return { status, headers, body: await text(response) };
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ECONNREFUSED' ? 'refused' : undefined;
  }
}
