import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { connectionLimit, limitFromReport, openFileLimit } from '../../../src/http/node/connection-limit.ts';
import { hasProgram } from '../../support/system-fault.ts';

const script = `
  const { MemoryStorage, PlantStore } = await import('./src/index.ts');
  const { createPlantServer } = await import('./src/http.ts');
  const server = createPlantServer(new PlantStore({ storage: new MemoryStorage() }), { authenticate: () => null });
  process.stdout.write(String(server.maxConnections));
`;

/** The default of `maxConnections` in a process that may have this many files open. */
function defaultUnder(maxOpenFiles: number): number {
  const node = [process.execPath, '--import', 'tsx', '--input-type=module', '--eval', script];
  const cwd = new URL('../../../', import.meta.url);
  return Number(
    execFileSync('prlimit', [`--nofile=${maxOpenFiles}:${maxOpenFiles}`, ...node], { cwd, encoding: 'utf8' }),
  );
}

describe('connection limit', () => {
  it('leaves 64 open files to the rest of the process, is at least 8 and at most 10,000', () => {
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

  it("is the default of a server's maxConnections", (t) => {
    if (!hasProgram(t, 'prlimit')) return;
    assert.deepEqual([64, 1024, 20_000].map(defaultUnder), [8, 960, 10_000]);
  });
});

describe('open file limit', () => {
  it(
    'is the same in /proc and in a diagnostic report',
    { skip: process.platform === 'win32' && 'Windows has none' },
    () => {
      assert.equal(limitFromReport() ?? Infinity, openFileLimit());
    },
  );

  it('leaves the settings of the diagnostic report as they are', () => {
    const report: typeof process.report & { excludeNetwork?: boolean } = process.report;
    report.excludeNetwork = false;
    limitFromReport();
    assert.equal(report.excludeNetwork, false);
  });
});
