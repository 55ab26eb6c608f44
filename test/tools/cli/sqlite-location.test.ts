import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { describe, it } from 'node:test';
import { UsageError } from '../../../src/tools/cli/command.ts';
import { sqliteLocation } from '../../../src/tools/cli/storage.ts';

const parse = (text: string): ReturnType<typeof sqliteLocation> => sqliteLocation({ text, source: '--storage' });

describe('sqliteLocation', () => {
  for (const file of ['plants.db', '/var/lib/plants.db', 'really?', 'name: with spaces?.db', '?.db']) {
    it(`returns the file of sqlite:${file} and the parameter commitThread, which is false by default`, () => {
      assert.deepEqual(parse(`sqlite:${file}`), { file: resolve(file), commitThread: false });
      assert.deepEqual(parse(`sqlite:${file}?commitThread=true`), { file: resolve(file), commitThread: true });
      assert.deepEqual(parse(`sqlite:${file}?commitThread=false`), { file: resolve(file), commitThread: false });
    });
  }

  for (const text of ['memory', 'sqlite', 'sqlite:', 'sqlite::memory:', 'sqlite:?commitThread=true', 'postgres://x']) {
    it(`returns undefined for ${text}`, () => {
      assert.equal(parse(text), undefined);
    });
  }

  const unknown = (name: string): string =>
    `--storage has the parameter '${name}'. The only parameter of sqlite:FILE is commitThread.`;
  const slashes = "--storage must not have '//' after 'sqlite:'. Use";
  const current = 'for a path in the current folder';
  const wrong: [text: string, message: string][] = [
    ['sqlite:x?commitTread=true', unknown('commitTread')],
    ['sqlite:x?mode=ro&commitThread=true', unknown('mode')],
    ['sqlite:x?readonly', unknown('readonly')],
    ['sqlite:x?commitThread=1', "commitThread in --storage must be true or false, not '1'."],
    ['sqlite:x?commitThread=', "commitThread in --storage must be true or false, not ''."],
    ['sqlite:x?commitThread', "commitThread in --storage must be true or false, not ''."],
    ['sqlite:x?commitThread=true&commitThread=false', 'commitThread must not be given twice in --storage.'],
    // Programs differ in what these mean.
    ['sqlite://plants.db', `${slashes} 'sqlite:plants.db'.`],
    ['sqlite:///abs/x.db', `${slashes} 'sqlite:/abs/x.db', or 'sqlite:abs/x.db' ${current}.`],
    [
      'sqlite:///x.db?commitThread=true',
      `${slashes} 'sqlite:/x.db?commitThread=true', or 'sqlite:x.db?commitThread=true' ${current}.`,
    ],
    ['sqlite:////abs/x.db', `${slashes} 'sqlite:/abs/x.db'.`],
    ['sqlite://', `${slashes} sqlite:FILE, such as 'sqlite:plants.db'.`],
  ];
  for (const [text, message] of wrong) {
    it(`rejects ${text} with a UsageError that says what to change`, () => {
      assert.throws(
        () => parse(text),
        (error) => error instanceof UsageError && error.message === message,
      );
    });
  }
});
