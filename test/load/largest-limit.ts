import { setTimeout as sleep } from 'node:timers/promises';
import { CpuMeter, databaseWith, describeSteady, describeBurst, greedyUser, ms, politeUser } from './beside.ts';
import { generate } from './generate.ts';
import type { Generator } from './generate.ts';
import type { Outcome, Scene, Stage } from './stage.ts';
import type { SteadyReport } from './steady.ts';

// One user with 300,000 plants asks for lists with the largest limit there is. Such a list has to be
// read twice, and its ids are kept while it is sent. Another user meanwhile creates plants and asks
// for lists of 20 and of 2,000 at a fixed rate. It should be served as if it were alone.

const plants = 300_000;
const target = '/plants?limit=2147483647';
const besideMs = 20_000;
const perSecond = 60;

/** Many HEAD requests: each makes the server read the list, and costs the client next to nothing. */
export async function largestLimitHeads(stage: Stage): Promise<void> {
  const connections = 1000;
  await play(stage, `1,000 HEAD ${target} of 300,000 plants, another user at 60 a second`, async (scene, beside) => {
    const cpu = new CpuMeter(scene.server);
    const milliseconds = besideMs + 10_000;
    const heads = generate('burst', {
      port: scene.port,
      connections,
      method: 'HEAD',
      target,
      user: greedyUser,
      milliseconds,
    });
    const steady = await beside.report;
    const cpuBeside = cpu.describe();
    return outcome(steady, [
      `the HEADs: ${describeBurst(await heads.report)}`,
      `the server used ${cpuBeside} while the other user was there, ${cpu.describe()} in all`,
    ]);
  });
}

/**
 * GET requests that take 63 KB a second to send: some 640 a second. Each goes over the next of many
 * connections, so that more of them are under way than `maxInFlight` allows. The responses are discarded.
 */
export async function largestLimitTrickle(stage: Stage): Promise<void> {
  await play(
    stage,
    `GET ${target} of 300,000 plants sent at 63 KB/s over 2,000 connections, another user at 60 a second`,
    async (scene, beside) => {
      const cpu = new CpuMeter(scene.server);
      const options = {
        port: scene.port,
        connections: 2000,
        target,
        user: greedyUser,
        milliseconds: besideMs,
        bytesPerSecond: 63_000,
      };
      const { requests, statuses } = await generate('trickle', options).report;
      const steady = await beside.report;
      return outcome(steady, [
        `${requests} GETs sent; responses by status: ${JSON.stringify(statuses)}`,
        `the server used ${cpu.describe()}`,
      ]);
    },
  );
}

/** Clients that ask and close the connection at once: the server should stop reading for them. */
export async function largestLimitLeavers(stage: Stage): Promise<void> {
  await play(
    stage,
    `300 clients ask for ${target} of 300,000 plants and leave at once, another user at 60 a second`,
    async (scene, beside) => {
      const cpu = new CpuMeter(scene.server);
      const leaving = generate('askAndLeave', {
        port: scene.port,
        connections: 300,
        target,
        user: greedyUser,
        stayMs: 100,
      });
      await leaving.ready;
      const cpuBefore = cpu.seconds();
      const afterwards = new CpuMeter(scene.server);
      await leaving.report;
      const steady = await beside.report;
      await sleep(1000);
      return outcome(steady, [
        `the server used ${cpuBefore.toFixed(1)} s of CPU until they had left, and ${afterwards.describe()} after that`,
      ]);
    },
  );
}

/** What the other user costs and sees alone, to compare with. */
async function describeAlone({ server, port }: Scene): Promise<string> {
  const cpu = new CpuMeter(server);
  const { all } = await steadyBeside(port, 4000).report;
  return `before that, the other user alone: p99 ${ms(all.p99Ms)}, ${cpu.describe()}`;
}

async function play(
  stage: Stage,
  scenario: string,
  work: (scene: Scene, beside: Generator<SteadyReport>) => Promise<Outcome>,
): Promise<void> {
  const database = await databaseWith(stage.folder, plants, 5000);
  await stage.play(
    scenario,
    async (scene) => {
      const alone = await describeAlone(scene);
      const beside = steadyBeside(scene.port, besideMs);
      await beside.ready;
      await sleep(500);
      const { notes = [], ...others } = await work(scene, beside);
      return { ...others, notes: [...notes, alone] };
    },
    { database },
  );
}

function steadyBeside(port: number, milliseconds: number): Generator<SteadyReport> {
  return generate('runSteadily', {
    port,
    user: politeUser,
    perSecond,
    milliseconds,
    works: ['create', 'list 20', 'list 2000'],
  });
}

function outcome(steady: SteadyReport, notes: readonly string[]): Outcome {
  return { tally: steady.all, notes: [...describeSteady(steady), ...notes] };
}
