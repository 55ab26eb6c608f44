import { setTimeout as sleep } from 'node:timers/promises';
import type { Load } from './create-load.ts';
import type { Cluster } from './cluster.ts';

/** Makes a part of the cluster fail, then restores it. Resolves when the servers can create plants again. */
export type Scenario = (cluster: Cluster, load: Load) => Promise<void>;

/** How long a failover may take. Patroni's `ttl` on the page is 30 seconds. */
const failoverMs = 90_000;
/** The number of plants that show that the service is available again. */
const enoughPlants = 200;
const freezeMs = 12_000;
/** Longer than Patroni's `ttl`, so that another machine becomes the primary. */
const longFreezeMs = 60_000;
const proxyOutageMs = 5000;
const etcdOutageMs = 60_000;

export const scenarios = {
  kill: async (cluster, load) => {
    const primary = await cluster.leader();
    await primary.killDatabase();
    await load.acknowledgedMore(enoughPlants, failoverMs);
    primary.patroni.start();
  },
  switchover: async (cluster, load) => {
    const primary = await cluster.leader();
    // The response arrives when the switchover is complete.
    const response = await fetch(`${primary.api}/switchover`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Basic ${btoa('patroni:api-secret')}` },
      body: JSON.stringify({ leader: primary.name }),
      signal: AbortSignal.timeout(failoverMs),
    });
    if (response.status !== 200) throw new Error(`Switchover: ${response.status} ${await response.text()}`);
    await load.acknowledgedMore(enoughPlants, failoverMs);
  },
  freeze: (cluster, load) => freezePrimary(cluster, load, freezeMs),
  'long-freeze': (cluster, load) => freezePrimary(cluster, load, longFreezeMs),
  haproxy: async (cluster, load) => {
    await Promise.all(cluster.proxies.map(({ process: proxy }) => proxy.kill()));
    await sleep(proxyOutageMs);
    for (const { process: proxy } of cluster.proxies) proxy.start();
    await load.acknowledgedMore(enoughPlants, failoverMs);
  },
  etcd: async (cluster, load) => {
    await Promise.all(cluster.machines.map(({ etcd }) => etcd.kill()));
    await sleep(etcdOutageMs);
    for (const { etcd } of cluster.machines) etcd.start();
    await load.acknowledgedMore(enoughPlants, failoverMs);
  },
} as const satisfies Record<string, Scenario>;

export type ScenarioName = keyof typeof scenarios;

/** The oldest version of Patroni with which a scenario is run. Older versions may lose plants in it. */
export const oldestPatroni: Readonly<Partial<Record<ScenarioName, string>>> = { 'long-freeze': '3.1.0' };

/** What each scenario does, for the table. */
export const descriptions: Readonly<Record<ScenarioName, string>> = {
  kill: '`kill -9` of the primary and its Patroni',
  switchover: 'switchover',
  freeze: `primary and its Patroni frozen for ${freezeMs / 1000} s`,
  'long-freeze': `primary and its Patroni frozen for ${longFreezeMs / 1000} s`,
  haproxy: `all HAProxy processes killed, restarted after ${proxyOutageMs / 1000} s`,
  etcd: `all etcd processes killed, restarted after ${etcdOutageMs / 1000} s`,
};

async function freezePrimary(cluster: Cluster, load: Load, ms: number): Promise<void> {
  const primary = await cluster.leader();
  primary.freezeDatabase();
  await sleep(ms);
  primary.resumeDatabase();
  await load.acknowledgedMore(enoughPlants, failoverMs);
}
