import { setTimeout as sleep } from 'node:timers/promises';
import type { ModelClients } from '../support/model-clients.ts';
import type { Cluster } from './cluster.ts';

/** Makes a part of the cluster fail, then restores it. Resolves when the servers can write plants again. */
export type Scenario = (cluster: Cluster, load: ModelClients) => Promise<void>;

/** How long a failover may take. On the page, Patroni's `ttl` is 30 seconds. */
const failoverMs = 90_000;
/** How many acknowledged writes show that the service is available again. */
const enoughWrites = 200;
const freezeMs = 12_000;
/** Longer than Patroni's `ttl`, so that another machine becomes the primary. */
const longFreezeMs = 60_000;
const proxyOutageMs = 5000;
const etcdOutageMs = 60_000;
const standbyOutageMs = 2000;

export const scenarios = {
  kill: async (cluster, load) => {
    const primary = await cluster.leader();
    await primary.killDatabase();
    await load.acknowledgeMore(enoughWrites, failoverMs);
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
    await load.acknowledgeMore(enoughWrites, failoverMs);
  },
  freeze: (cluster, load) => freezePrimary(cluster, load, freezeMs),
  'long-freeze': (cluster, load) => freezePrimary(cluster, load, longFreezeMs),
  haproxy: async (cluster, load) => {
    await Promise.all(cluster.proxies.map(({ process: proxy }) => proxy.kill()));
    await sleep(proxyOutageMs);
    for (const { process: proxy } of cluster.proxies) proxy.start();
    await load.acknowledgeMore(enoughWrites, failoverMs);
  },
  etcd: async (cluster, load) => {
    await Promise.all(cluster.machines.map(({ etcd }) => etcd.kill()));
    await sleep(etcdOutageMs);
    for (const { etcd } of cluster.machines) etcd.start();
    await load.acknowledgeMore(enoughWrites, failoverMs);
  },
  standbys: killStandbysThenPrimary,
  control: async (cluster, load) => {
    await cluster.setSynchronousCommit('local');
    await killStandbysThenPrimary(cluster, load);
    await cluster.setSynchronousCommit(null);
  },
} as const satisfies Record<string, Scenario>;

export type ScenarioName = keyof typeof scenarios;

/** The scenario that must lose plants. It shows that the other scenarios would detect a loss. */
export const control: ScenarioName = 'control';

/** The oldest Patroni version with which a scenario is run. Older versions can lose plants in the scenario. */
export const oldestPatroni: Readonly<Partial<Record<ScenarioName, string>>> = { 'long-freeze': '3.1.0' };

/** The descriptions of the scenarios in the table. */
export const descriptions: Readonly<Record<ScenarioName, string>> = {
  kill: '`kill -9` of the primary and its Patroni',
  switchover: 'switchover',
  freeze: `primary and its Patroni frozen for ${freezeMs / 1000} s`,
  'long-freeze': `primary and its Patroni frozen for ${longFreezeMs / 1000} s`,
  haproxy: `all HAProxy processes killed, restarted after ${proxyOutageMs / 1000} s`,
  etcd: `all etcd processes killed, restarted after ${etcdOutageMs / 1000} s`,
  standbys: `\`kill -9\` of both standbys, and of the primary after ${standbyOutageMs / 1000} s`,
  control: 'the same with `synchronous_commit: local`, which must lose plants',
};

/**
 * Kills the standbys first, because on one machine, each commit reaches running standbys immediately. The primary can
 * be ahead only while the standbys are down. If Patroni noticed that the standbys are down, it would not promote one of
 * them afterwards. Therefore, the primary's Patroni is frozen until it is killed.
 */
async function killStandbysThenPrimary(cluster: Cluster, load: ModelClients): Promise<void> {
  const primary = await cluster.leader();
  const standbys = cluster.machines.filter((machine) => machine !== primary);
  primary.freezePatroni();
  await Promise.all(standbys.map((machine) => machine.killDatabase()));
  await sleep(standbyOutageMs);
  await primary.killDatabase();
  for (const { patroni } of standbys) patroni.start();
  await load.acknowledgeMore(enoughWrites, failoverMs);
  primary.patroni.start();
}

async function freezePrimary(cluster: Cluster, load: ModelClients, ms: number): Promise<void> {
  const primary = await cluster.leader();
  primary.signalDatabase('SIGSTOP');
  await sleep(ms);
  primary.signalDatabase('SIGCONT');
  await load.acknowledgeMore(enoughWrites, failoverMs);
}
