import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { runCommand, summaryOf } from '../../../support/command-line.ts';
import { eventually } from '../../../support/eventually.ts';
import type { Finished } from '../../../support/run-program.ts';
import { main, tsx } from '../../../support/sources.ts';
import { createAll, hostilePlants, owned, readAll, rowOfPlants } from '../../../support/stored-plants.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { errorTable } from '../../../../src/index.ts';

/** Imports text into plants.db. */
async function importText(cwd: string, input: string | Buffer, ...flags: string[]): Promise<Finished> {
  await writeFile(join(cwd, 'plants.ndjson'), input);
  const { code, stdout, stderr } = await runCommand(['import', ...flags], { cwd, stdin: 'plants.ndjson' });
  return { code, stdout, stderr: summaryOf(stderr) };
}

describe('plant-store import', { concurrency: 4 }, () => {
  it('imports the output of export through a pipe, and changes nothing on a second run', async (t) => {
    const cwd = await temporaryFolder(t);
    const plants = [...hostilePlants, ...rowOfPlants('\u{10FFFF}', 5000)];
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
    const done = (stderr: string): Finished => ({ code: 0, stdout: '', stderr });
    const first = done('Imported 3 plants; 0 were there already, 0 conflicts.\n');
    assert.deepEqual(await importText(cwd, `\uFEFF${text}`), first);
    const plants = [
      owned('ada', { id: -(2n ** 63n), name: 'b', tag: 'x' }),
      owned('ada', { id: 1000n, name: 'c' }),
      owned('ada', { id: 2n ** 53n + 1n, name: 'a' }),
    ];
    assert.deepEqual(await readAll(join(cwd, 'plants.db')), plants);
    const second = done('Imported 0 plants; 3 were there already, 0 conflicts.\n');
    assert.deepEqual(await importText(cwd, text), second);
    const empty = done('Imported 0 plants; 0 were there already, 0 conflicts.\n');
    assert.deepEqual(await importText(await temporaryFolder(t), ''), empty);
  });

  const good = (id: number): string => `{"user":"ada","id":${id},"name":"good ${id}"}`;
  const badLines: [line: string | Buffer, problem: string][] = [
    ['{"user":"ada","id":1', 'it is not JSON, or nests too deep.'],
    ['[]', 'it is not an object with user, id, name and, optionally, tag.'],
    ['{"id":1,"name":"x"}', 'user is required.'],
    ['{"user":"","id":1,"name":"x"}', errorTable.invalid_user.message],
    [
      '{"user":"ada","id":9223372036854775808,"name":"x"}',
      'id must be a number with an integral value from -2^63 to 2^63-1.',
    ],
    [Buffer.from('{"user":"ada","id":1,"name":"\xff"}', 'latin1'), 'it is not UTF-8.'],
    [`{"user":"ada","id":1,"name":"${'x'.repeat(1_048_576)}"}`, 'it has more than 1048576 bytes.'],
  ];

  it('reports each bad line with its number, imports all other lines, and exits with 1', async (t) => {
    const cwd = await temporaryFolder(t);
    const lines = badLines.flatMap(([line], n) => [Buffer.from(`${good(n)}\n`), Buffer.from(line), Buffer.from('\n')]);
    const finished = await importText(cwd, Buffer.concat(lines));
    const told = badLines.map(([, problem], n) => `Line ${2 * n + 2} was left out: ${problem}\n`);
    const count = badLines.length;
    assert.deepEqual(finished, {
      code: 1,
      stdout: '',
      stderr: `${told.join('')}Imported ${count} plants; 0 were there already, 0 conflicts, ${count} bad lines.\n`,
    });
    assert.deepEqual(
      (await readAll(join(cwd, 'plants.db'))).map(({ plant }) => plant.name),
      badLines.map((_, n) => `good ${n}`),
    );
  });

  it('reports only the first bad lines, and counts the other bad lines', async (t) => {
    const finished = await importText(await temporaryFolder(t), `${'?\n'.repeat(5000)}${good(1)}\n`);
    const lines = finished.stderr.trimEnd().split('\n');
    assert.equal(lines.length, 12);
    assert.equal(lines[10], 'Further bad lines are only counted.');
    assert.equal(lines[11], 'Imported 1 plant; 0 were there already, 0 conflicts, 5,000 bad lines.');
  });

  it('imports only the lines before the first bad line if --strict is set', async (t) => {
    const cwd = await temporaryFolder(t);
    const before = Array.from({ length: 2500 }, (_, id) => good(id));
    const finished = await importText(cwd, [...before, '?', good(9999), ''].join('\n'), '--strict');
    const stderr =
      'Line 2501 was left out: it is not JSON, or nests too deep.\nImported 2,500 plants; 0 were there already, 0 conflicts, 1 bad line.\n';
    assert.deepEqual(finished, { code: 1, stdout: '', stderr });
    assert.equal((await readAll(join(cwd, 'plants.db'))).length, 2500);
  });

  it('never overwrites a plant, even if the input contains a key twice, and exits with 1', async (t) => {
    const cwd = await temporaryFolder(t);
    await createAll(join(cwd, 'plants.db'), [owned('ada', { id: 1n, name: 'first' })]);
    const lines = [good(1), good(2), good(2), good(2).replace('good', 'bad'), good(3)];
    const { code, stderr } = await importText(cwd, lines.join('\n'));
    assert.equal(code, 1);
    assert.deepEqual(stderr.split('\n'), [
      'User "ada" has another plant with id 1: it was left as it is.',
      'User "ada" has another plant with id 2: it was left as it is.',
      'Imported 2 plants; 1 was there already, 2 conflicts.',
      '',
    ]);
    assert.deepEqual(
      (await readAll(join(cwd, 'plants.db'))).map(({ plant }) => plant.name),
      ['first', 'good 2', 'good 3'],
    );
  });

  it('commits while it reads the input', async (t) => {
    const cwd = await temporaryFolder(t);
    const child = spawn(process.execPath, ['--import', tsx, main, 'import'], {
      cwd,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    const exited = once(child, 'exit');
    t.after(() => {
      child.kill('SIGKILL');
    });
    child.stdin.write(Array.from({ length: 2500 }, (_, id) => `${good(id)}\n`).join(''));
    await eventually(async () => {
      assert.equal((await readAll(join(cwd, 'plants.db'))).length, 2000);
    }, 15_000);
    child.stdin.end(good(9999));
    assert.deepEqual(await exited, [0, null]);
    assert.equal((await readAll(join(cwd, 'plants.db'))).length, 2501);
  });
});
