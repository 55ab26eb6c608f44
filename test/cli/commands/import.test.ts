import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { runCommand } from '../../support/command-line.ts';
import { eventuallyEqual } from '../../support/eventually.ts';
import { commandEnvironment, finish, runProgram } from '../../support/run-program.ts';
import type { Finished } from '../../support/run-program.ts';
import { main, plantStore, tsx } from '../../support/sources.ts';
import { createAll, hostilePlants, owned, readAll, rowOfPlants } from '../../support/stored-plants.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

async function importText(cwd: string, input: string | Buffer, ...flags: string[]): Promise<Finished> {
  await writeFile(join(cwd, 'plants.ndjson'), input);
  return runCommand(['import', ...flags], { cwd, stdin: 'plants.ndjson' });
}

async function namesIn(cwd: string): Promise<string[]> {
  return (await readAll(join(cwd, 'plants.db'))).map(({ plant }) => plant.name);
}

const good = (id: number): string => `{"user":"ada","id":${id},"name":"good ${id}"}`;

describe('plant-store import', { concurrency: 4 }, () => {
  it('imports the output of export through a pipe, and changes nothing on a second run', async (t) => {
    const cwd = await temporaryFolder(t);
    const long = owned('\u{10FFFF}', { id: 10_000n, name: 'x'.repeat(1_000_000) });
    const plants = [...hostilePlants, ...rowOfPlants('\u{10FFFF}', 5000), long];
    await createAll(join(cwd, 'a.db'), plants);
    const command = `'${process.execPath}' --import '${tsx}' '${main}'`;
    const pipe = `${command} export --storage sqlite:a.db | ${command} import --storage sqlite:b.db`;
    for (let round = 0; round < 2; round++) {
      execFileSync('sh', ['-c', pipe], { cwd, stdio: 'ignore', timeout: 20_000 });
      assert.deepEqual(await readAll(join(cwd, 'b.db')), plants);
    }
  });

  it('reads every JSON notation of an id exactly, skips existing plants, and accepts an empty input', async (t) => {
    const cwd = await temporaryFolder(t);
    const text = [
      '{"user":"ada","id":9007199254740993,"name":"a"}\r\n\n  ',
      '{"name":"b","tag":"x","id":-9223372036854775808,"user":"ada","more":[1]}',
      '{"user":"ada","id":1e3,"name":"c"}',
    ].join('\n');
    for (const input of [`\uFEFF${text}`, text, '']) assert.equal((await importText(cwd, input)).code, 0);
    assert.deepEqual(await readAll(join(cwd, 'plants.db')), [
      owned('ada', { id: -(2n ** 63n), name: 'b', tag: 'x' }),
      owned('ada', { id: 1000n, name: 'c' }),
      owned('ada', { id: 2n ** 53n + 1n, name: 'a' }),
    ]);
  });

  it('reports each bad line with its number, imports all other lines, and exits with 1', async (t) => {
    const badLines: [line: string | Buffer, keyword: string][] = [
      ['{"user":"ada","id":1', 'not JSON'],
      ['[]', 'object'],
      ['{"id":1,"name":"x"}', 'user'],
      ['{"user":"","id":1,"name":"x"}', 'user'],
      ['{"user":"ada","id":9223372036854775808,"name":"x"}', 'id'],
      [Buffer.from('{"user":"ada","id":1,"name":"\xff"}', 'latin1'), 'JSON'],
    ];
    const cwd = await temporaryFolder(t);
    const lines = badLines.flatMap(([line], n) => [Buffer.from(`${good(n)}\n`), Buffer.from(line), Buffer.from('\n')]);
    const { code, stderr } = await importText(cwd, Buffer.concat(lines));
    assert.equal(code, 1);
    for (const [n, [, keyword]] of badLines.entries()) {
      assert.match(stderr, new RegExp(`^Line ${2 * n + 2} .*${keyword}`, 'm'));
    }
    assert.deepEqual(
      await namesIn(cwd),
      badLines.map((_, n) => `good ${n}`),
    );
  });

  it('reports the first ten bad lines, and counts all of them', async (t) => {
    const cwd = await temporaryFolder(t);
    const { code, stderr } = await importText(cwd, `${'bad\n'.repeat(2000)}${good(1)}`);
    assert.equal(code, 1);
    assert.deepEqual(stderr.match(/^Line \d+/gm)?.length, 10);
    assert.match(stderr, /^Further bad lines are only counted\.\nImported 1 plant, .*, 2,000 bad lines\.\n$/m);
    assert.deepEqual(await namesIn(cwd), ['good 1']);
  });

  it('skips a line that is longer than 1 MiB, without keeping it in memory', async (t) => {
    const cwd = await temporaryFolder(t);
    const script = 'yes | tr -d "\\n" | head -c 100000000; echo; echo "$0"';
    const command = `sh -c '${script}' '${good(2)}' | '${process.execPath}' --max-old-space-size=64 --import '${tsx}' '${main}' import`;
    const { code, stderr } = await runProgram('sh', ['-c', command], { cwd, env: commandEnvironment() });
    assert.equal(code, 1);
    assert.match(stderr, /^Line 1 was left out: it is longer than 1 MiB\.\nImported 1 plant, .* 1 bad line\.\n$/);
    assert.deepEqual(await namesIn(cwd), ['good 2']);
  });

  it('never overwrites a plant, even if the input contains a key twice, and exits with 1', async (t) => {
    const cwd = await temporaryFolder(t);
    await createAll(join(cwd, 'plants.db'), [owned('ada', { id: 1n, name: 'first' })]);
    const lines = [good(1), good(2), good(2), good(2).replace('good', 'bad'), good(3)];
    const { code, stderr } = await importText(cwd, lines.join('\n'));
    assert.equal(code, 1);
    assert.match(stderr, /id 1: .*\n.*id 2: .*\nImported 2 plants, 1 plant already existed, 2 conflicts\.\n$/);
    assert.deepEqual(await namesIn(cwd), ['first', 'good 2', 'good 3']);
  });

  it('commits while it reads the input, and says on a signal how far it came', async (t) => {
    const cwd = await temporaryFolder(t);
    const child = spawn(process.execPath, [...plantStore, 'import'], { cwd, env: commandEnvironment() });
    t.after(() => child.kill('SIGKILL'));
    const finished = finish(child);
    child.stdin.write(Array.from({ length: 2500 }, (_, id) => `${good(id)}\n`).join(''));
    await eventuallyEqual(async () => (await namesIn(cwd)).length, 2500, 15_000);
    child.kill('SIGTERM');
    const { code, stderr } = await finished;
    assert.equal(code, 143, stderr);
    assert.match(stderr, /^Imported 2,500 plants, .*Interrupted/);
  });
});
