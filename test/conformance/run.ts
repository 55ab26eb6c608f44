// Checks the server at a URL. CONTRIBUTING.md describes the arguments.
import { parseArgs } from 'node:util';
import { createClient } from './client.ts';
import { testServer } from './register.ts';

const usage = `Usage: npm run --silent conformance -- URL --token A --token B [--read-only-token C] [--skip CHECK]
A and B are bearer tokens of two users that have no other purpose. C permits user A only to read.
CHECK is the first word of the title of a check, and can be repeated.`;

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}

function parse() {
  const options = {
    token: { type: 'string', multiple: true, default: [] as string[] },
    'read-only-token': { type: 'string' },
    skip: { type: 'string', multiple: true, default: [] as string[] },
  } as const;
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    return fail(`${(error as Error).message}\n${usage}`);
  }
}

const { values, positionals } = parse();
const [url = '', ...others] = positionals;
const [a = '', b = '', ...moreTokens] = values.token;
if (!URL.canParse(url) || a === '' || b === '' || a === b || others.length + moreTokens.length > 0) fail(usage);
const server = { url: url.replace(/\/+$/, ''), tokens: { a, b, readOnly: values['read-only-token'] } };
await createClient(server)
  .a.list()
  .catch((error: unknown) => fail(`${url}: ${(error as Error).message}`));
testServer('the server', server, values.skip);
