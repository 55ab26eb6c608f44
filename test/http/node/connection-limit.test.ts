import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { connectionLimit } from '../../../src/http/node/connection-limit.ts';
import { hasProgram } from '../../support/system-fault.ts';
import { evalArgs, runSuccessfully } from '../../support/run-program.ts';
import { sourceUrl } from '../../support/sources.ts';

/** Returns the default value of `maxConnections` in a process that can open this many files. */
async function defaultUnder(maxOpenFiles: number): Promise<number> {
  const code = `
    const { MemoryStorage, PlantStore } = await import('${sourceUrl('index.ts')}');
    const { createPlantServer } = await import('${sourceUrl('http.ts')}');
    const server = createPlantServer(new PlantStore({ storage: new MemoryStorage() }), { authenticate: () => null });
    console.log(server.maxConnections);`;
  const limit = `--nofile=${maxOpenFiles}:${maxOpenFiles}`;
  return Number(await runSuccessfully('prlimit', [limit, process.execPath, ...evalArgs(code)]));
}

describe('connectionLimit', () => {
  it('reserves 64 files for the rest of the process, and returns a number from 8 to 10,000', () => {
    const expected: [number, number][] = [
      [Infinity, 10_000],
      [1_048_576, 10_000],
      [10_064, 10_000],
      [1024, 960],
      [73, 9],
      [64, 8],
      [16, 8],
    ];
    for (const [files, connections] of expected) assert.equal(connectionLimit(files), connections, String(files));
  });

  it("returns the default value of a server's maxConnections", async (t) => {
    if (!hasProgram(t, 'prlimit')) return;
    assert.deepEqual(await Promise.all([64, 1024, 20_000].map(defaultUnder)), [8, 960, 10_000]);
  });
});
