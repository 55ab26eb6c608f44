import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { describe, it } from 'node:test';
import { UsageError } from '../../../src/tools/cli/command.ts';
import { sqliteLocation } from '../../../src/tools/cli/sqlite-location.ts';

const parse = (text: string): ReturnType<typeof sqliteLocation> => sqliteLocation({ text, source: '--storage' });

describe('sqliteLocation', () => {
  const files: [string, string][] = [
    ['sqlite:plants.db', 'plants.db'],
    ['sqlite:/var/lib/plants.db', '/var/lib/plants.db'],
    ['sqlite:really?', 'really?'],
    ['sqlite:name: with spaces?.db', 'name: with spaces?.db'],
    ['sqlite:?.db', '?.db'],
  ];
  for (const [text, file] of files) {
    it(`returns the file of ${text}, without a commit thread by default`, () => {
      assert.deepEqual(parse(text), { file: resolve(file), commitThread: false });
    });

    it(`returns the file of ${text}, with the parameter commitThread`, () => {
      assert.deepEqual(parse(`${text}?commitThread=true`), { file: resolve(file), commitThread: true });
      assert.deepEqual(parse(`${text}?commitThread=false`), { file: resolve(file), commitThread: false });
    });
  }

  it('returns undefined for other storage', () => {
    for (const text of [
      'memory',
      'sqlite',
      'sqlite:',
      'sqlite::memory:',
      'sqlite:?commitThread=true',
      'postgres://x',
    ]) {
      assert.equal(parse(text), undefined, text);
    }
  });

  const wrong: [string, string][] = [
    [
      'commitTread=true',
      "--storage has the parameter 'commitTread'. The only parameter of sqlite:FILE is commitThread.",
    ],
    [
      'mode=ro&commitThread=true',
      "--storage has the parameter 'mode'. The only parameter of sqlite:FILE is commitThread.",
    ],
    ['readonly', "--storage has the parameter 'readonly'. The only parameter of sqlite:FILE is commitThread."],
    ['commitThread=1', "commitThread in --storage must be true or false, not '1'."],
    ['commitThread=', "commitThread in --storage must be true or false, not ''."],
    ['commitThread', "commitThread in --storage must be true or false, not ''."],
    ['commitThread=true&commitThread=false', 'commitThread must not be given twice in --storage.'],
  ];
  for (const [query, message] of wrong) {
    it(`rejects the parameters ${query} with a UsageError that names the wrong one`, () => {
      assert.throws(
        () => parse(`sqlite:plants.db?${query}`),
        (error) => error instanceof UsageError && error.message === message,
      );
    });
  }

  const current = 'for a path in the current folder';
  const ambiguous: [text: string, advice: string][] = [
    ['sqlite://plants.db', "Use 'sqlite:plants.db'."],
    ['sqlite:///abs/x.db', `Use 'sqlite:/abs/x.db', or 'sqlite:abs/x.db' ${current}.`],
    [
      'sqlite:///x.db?commitThread=true',
      `Use 'sqlite:/x.db?commitThread=true', or 'sqlite:x.db?commitThread=true' ${current}.`,
    ],
    ['sqlite:////abs/x.db', "Use 'sqlite:/abs/x.db'."],
    ['sqlite://', "Use sqlite:FILE, such as 'sqlite:plants.db'."],
  ];
  for (const [text, advice] of ambiguous) {
    it(`rejects ${text}, because programs differ in what it means, and says: ${advice}`, () => {
      const message = `--storage must not have '//' after 'sqlite:'. ${advice}`;
      assert.throws(
        () => parse(text),
        (error) => error instanceof UsageError && error.message === message,
      );
    });
  }
});
