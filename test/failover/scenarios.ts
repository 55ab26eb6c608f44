import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { signalTree } from '../support/process-tree.ts';
import { killDatabase, runPatronictl, signalDatabase } from './cluster.ts';
import type { Cluster } from './cluster.ts';

export interface Scenario {
  readonly name: string;
  readonly description: string;
  /** Makes a part of the cluster fail, then restores it. `untilAvailable` resolves when the servers can write again. */
  readonly run: (cluster: Cluster, untilAvailable: () => Promise<void>) => Promise<void>;
  /** Whether the scenario must lose plants, which shows that the other scenarios would detect a loss. */
  readonly mustLose?: boolean;
}

export const scenarios: readonly Scenario[] = [
  {
    name: 'kill',
    description: '`kill -9` of the primary and its Patroni',
    run: async (cluster, untilAvailable) => {
      await killDatabase(await cluster.leader());
      await untilAvailable();
      cluster.startPatroni();
    },
  },
  {
    name: 'switchover',
    description: 'switchover',
    run: async (cluster) => {
      const leader = await cluster.leader();
      const output = await runPatronictl(leader, 'switchover', '--leader', leader.name);
      assert.match(output, /Successfully switched over/);
    },
  },
  {
    name: 'freeze',
    description: 'primary and its Patroni frozen for 12 s',
    run: async (cluster) => {
      const primary = await cluster.leader();
      signalDatabase(primary, 'SIGSTOP');
      await sleep(12_000);
      signalDatabase(primary, 'SIGCONT');
    },
  },
  {
    name: 'etcd',
    description: 'all etcd processes killed, restarted after 60 s',
    run: async ({ machines }) => {
      await Promise.all(machines.map(({ etcd }) => etcd.kill()));
      await sleep(60_000);
      for (const { etcd } of machines) etcd.start();
    },
  },
  {
    name: 'standbys',
    description: '`kill -9` of both standbys, and of the primary after 2 s',
    run: killStandbysThenPrimary,
  },
  {
    // The last scenario, because it does not restore the setting.
    name: 'control',
    description: 'the same with `synchronous_commit: local`, which must lose plants',
    run: async (cluster, untilAvailable) => {
      await cluster.acknowledgeEarly();
      await killStandbysThenPrimary(cluster, untilAvailable);
    },
    mustLose: true,
  },
];

/**
 * Kills the standbys first, because on one machine, each commit reaches running standbys immediately. The primary can
 * be ahead only while the standbys are down. If Patroni noticed that the standbys are down, it would not promote one of
 * them afterwards. Therefore, the primary's Patroni is frozen until it is killed.
 */
async function killStandbysThenPrimary(cluster: Cluster, untilAvailable: () => Promise<void>): Promise<void> {
  const primary = await cluster.leader();
  const standbys = cluster.machines.filter((machine) => machine !== primary);
  signalTree(primary.patroni.pid ?? 0, 'SIGSTOP');
  await Promise.all(standbys.map(killDatabase));
  await sleep(2000);
  await killDatabase(primary);
  for (const { patroni } of standbys) patroni.start();
  await untilAvailable();
  cluster.startPatroni();
}
