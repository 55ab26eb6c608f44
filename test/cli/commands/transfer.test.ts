import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { readLines } from '../../../src/cli/commands/transfer.ts';
import { plantOf } from '../../../src/testing/plants.ts';
import { assertFails, callCommand } from '../../support/call-command.ts';
import { eventuallyEqual } from '../../support/eventually.ts';
import { commandEnvironment, finish } from '../../support/run-program.ts';
import { main } from '../../support/sources.ts';
import { createAll, hostilePlants, readAll, rowOfPlants } from '../../support/stored-plants.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const copy = ['copy', '--from', 'sqlite:a.db', '--to', 'sqlite:b.db'];

const good = (id: number): string => `{"user":"ada","id":${id},"name":"good ${id}"}`;

async function namesIn(cwd: string): Promise<string[]> {
  return (await readAll(join(cwd, 'plants.db'))).map(({ plant }) => plant.name);
}

it('plant-store copy › reports its progress on a signal, and continues when it is run again', async (t) => {
  const cwd = await temporaryFolder(t);
  const evil = '\n\u009b';
  await createAll(join(cwd, 'a.db'), [plantOf(evil, -1n, 'Fern'), ...rowOfPlants('ada', 10_000)]);
  await createAll(join(cwd, 'b.db'), [plantOf(evil, -1n, 'Fern', 'other')]);
  const finished = callCommand(copy, { cwd });
  for (let turn = 0; turn < 4; turn++) await nextTurn();
  assert.ok(process.emit('SIGINT', 'SIGINT'));
  const { code, stderr } = await finished;
  assert.equal(code, 130, stderr);
  assert.match(stderr, /^Copied [\d,]+ plants, .*Interrupted/m);
  const left = 10_001 - (await readAll(join(cwd, 'b.db'))).length;
  assert.ok(left > 0);
  const again = await callCommand(copy, { cwd });
  assert.equal(again.code, 1);
  assert.match(again.stderr, /^[^\n]*"\\n\\u009b" [^\n]* id -1[^\n]*\nCopied .* 1 conflict\.\n$/);
  assert.ok(again.stderr.includes(`Copied ${left.toLocaleString('en-US')} plants`), again.stderr);
});

it('plant-store export › writes one JSON object per line, with exact ids', async (t) => {
  const cwd = await temporaryFolder(t);
  const plants = [
    plantOf('ada', -1n, 'Moss'),
    plantOf('ada', 2n ** 53n + 1n, 'Fern "x"\n', ''),
    plantOf('bob', 1n, 'é', 'indoor'),
  ];
  await createAll(join(cwd, 'plants.db'), plants.toReversed());
  const { code, stdout, stderr } = await callCommand(['export'], { cwd });
  assert.equal(code, 0);
  assert.deepEqual(stdout.split('\n').sort(), [
    '',
    '{"user":"ada","id":-1,"name":"Moss"}',
    '{"user":"ada","id":9007199254740993,"name":"Fern \\"x\\"\\n","tag":""}',
    '{"user":"bob","id":1,"name":"é","tag":"indoor"}',
  ]);
  assert.match(stderr, /^Exported 3 plants/);
  await createAll(join(cwd, 'empty.db'), []);
  const empty = await callCommand(['export'], { cwd, env: { PLANT_STORE_STORAGE: 'sqlite:empty.db' } });
  assert.deepEqual([empty.code, empty.stdout], [0, '']);
});

it('plant-store export and copy › write what they can read of a damaged file, and exit with 1', async (t) => {
  const cwd = await temporaryFolder(t);
  const file = join(cwd, 'a.db');
  await createAll(file, rowOfPlants('ada', 3000));
  const content = await readFile(file);
  // SQLite reads this leaf page without an error, but finds only its first plant.
  const leaf = 10 * 4096;
  assert.equal(content[leaf], 10, 'the type of a leaf page');
  content.writeUInt16BE(1, leaf + 3);
  await writeFile(file, content);
  const problem = /^plant-store: \S*a\.db is damaged: plants may be missing\.[^\n]*\n$/;
  const exported = await callCommand(['export', '--storage', 'sqlite:a.db'], { cwd });
  assert.equal(exported.code, 1);
  assert.match(exported.stderr, problem);
  const lines = exported.stdout.match(/\n/g)?.length ?? 0;
  assert.ok(lines > 2500 && lines < 3000, `${lines} lines`);
  await assertFails(copy.join(' '), { cwd }, problem);
  assert.equal((await readAll(join(cwd, 'b.db'))).length, lines);
});

/** Lines that are not plants, and a key word of the problem. */
const badLines: readonly { line: string | Buffer; problem: string }[] = [
  { line: '{"user":"ada","id":1', problem: 'not JSON' },
  { line: '[]', problem: 'object' },
  { line: '{"id":1,"name":"x"}', problem: 'user' },
  { line: '{"user":"","id":1,"name":"x"}', problem: 'user' },
  { line: '{"user":"a\u009bda","id":9223372036854775808,"name":"x"}', problem: 'id .*"a\\\\u009bda"' },
  { line: Buffer.from('{"user":"ada","id":1,"name":"\xff"}', 'latin1'), problem: 'JSON' },
  { line: 'x'.repeat(2 ** 20 + 1), problem: 'longer than 1 MiB' },
];

it('plant-store import › imports the output of export through a pipe', async (t) => {
  const cwd = await temporaryFolder(t);
  const long = plantOf('\u{10FFFF}', 10_000n, 'x'.repeat(1_000_000));
  const plants = [...hostilePlants, ...rowOfPlants('\u{10FFFF}', 5000), long];
  await createAll(join(cwd, 'a.db'), plants);
  const command = [process.execPath, main].map((word) => `'${word}'`).join(' ');
  const pipe = `${command} export --storage sqlite:a.db | ${command} import --storage sqlite:b.db`;
  execFileSync('sh', ['-c', pipe], { cwd, stdio: 'ignore', timeout: 60_000 });
  assert.deepEqual(await readAll(join(cwd, 'b.db')), plants);
});

it('plant-store import › reads every JSON notation of an id exactly, and overwrites no plant', async (t) => {
  const cwd = await temporaryFolder(t);
  await createAll(join(cwd, 'plants.db'), [plantOf('ada', 1n, 'first')]);
  const input = [
    '\uFEFF{"user":"ada","id":9007199254740993,"name":"a"}\r\n\n  ',
    ...[good(1), good(2), good(2), good(2).replace('good', 'bad')],
    '{"name":"b","tag":"x","id":-9223372036854775808,"user":"ada","more":[1]}',
    '{"user":"ada","id":1e3,"name":"c"}',
  ].join('\n');
  const { code, stderr } = await callCommand(['import'], { cwd, input });
  assert.equal(code, 1);
  assert.match(stderr, /id 1, .*\n.*id 2, .*\nImported 4 plants, 1 plant already existed, 2 conflicts\.\n$/);
  assert.equal((await callCommand(['import'], { cwd })).code, 0, 'an empty input');
  assert.deepEqual(await readAll(join(cwd, 'plants.db')), [
    plantOf('ada', -(2n ** 63n), 'b', 'x'),
    plantOf('ada', 1n, 'first'),
    plantOf('ada', 2n, 'good 2'),
    plantOf('ada', 1000n, 'c'),
    plantOf('ada', 2n ** 53n + 1n, 'a'),
  ]);
});

it('plant-store import › reports the first ten bad lines by number, and imports all valid lines', async (t) => {
  const cwd = await temporaryFolder(t);
  const lines = badLines.flatMap(({ line }, n) => [good(n), '\n', line, '\n'].map((part) => Buffer.from(part)));
  const input = Buffer.concat([...lines, Buffer.from('bad\n'.repeat(2000))]);
  const { code, stderr } = await callCommand(['import'], { cwd, input });
  assert.equal(code, 1);
  for (const [n, { problem }] of badLines.entries()) {
    assert.match(stderr, new RegExp(`^Line ${2 * n + 2} .*${problem}`, 'm'));
  }
  assert.equal(stderr.match(/^Line \d+/gm)?.length, 10);
  assert.match(stderr, /^Further bad lines are only counted\.\nImported 7 plants, .*, 2,007 bad lines\.\n$/m);
  const imported = badLines.map((_, n) => `good ${n}`);
  assert.deepEqual(await namesIn(cwd), imported);
});

it('readLines › truncates a line that is longer than 1 MiB', async () => {
  async function* input(): AsyncGenerator<Buffer> {
    for (let n = 0; n < 100; n++) yield Buffer.alloc(2 ** 16, 'x');
    yield Buffer.from('\nend');
  }
  const lengths: number[] = [];
  for await (const lines of readLines(input())) lengths.push(...lines.map((line) => line.length));
  assert.deepEqual(lengths, [2 ** 20 + 2 ** 16, 3]);
});

it('plant-store import › commits while it reads the input, and reports its progress on a signal', async (t) => {
  const cwd = await temporaryFolder(t);
  const child = spawn(process.execPath, [main, 'import'], { cwd, env: commandEnvironment() });
  t.after(() => child.kill('SIGKILL'));
  const finished = finish(child);
  child.stdin.write(Array.from({ length: 2500 }, (_, id) => `${good(id)}\n`).join(''));
  await eventuallyEqual(async () => (await namesIn(cwd)).length, 2500, 60_000);
  child.kill('SIGTERM');
  const { code, stderr } = await finished;
  assert.equal(code, 143, stderr);
  assert.match(stderr, /^Imported 2,500 plants, .*Interrupted/);
});
