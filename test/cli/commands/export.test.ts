import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { callCommand } from '../../support/call-command.ts';
import { spawnCommand } from '../../support/command-line.ts';
import { createAll, owned, rowOfPlants } from '../../support/stored-plants.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

describe('plant-store export', () => {
  it('writes one JSON object per line, with exact ids', async (t) => {
    const cwd = await temporaryFolder(t);
    const plants = [
      owned('ada', { id: -1n, name: 'Moss' }),
      owned('ada', { id: 2n ** 53n + 1n, name: 'Fern "x"\n', tag: '' }),
      owned('bob', { id: 1n, name: 'é', tag: 'indoor' }),
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

  it('ends without a message if the reader closes the pipe before the end', async (t) => {
    const cwd = await temporaryFolder(t);
    // These plants do not fit into the output buffers.
    await createAll(join(cwd, 'plants.db'), rowOfPlants('ada', 20_000));
    const child = spawnCommand(['export'], { cwd });
    const [stderr, exited] = [text(child.stderr), once(child, 'close')];
    await once(child.stdout, 'readable');
    child.stdout.destroy();
    assert.deepEqual(await exited, [141, null]);
    assert.equal(await stderr, '');
  });
});
