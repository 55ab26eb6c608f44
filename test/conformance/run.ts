// Checks the server at a URL. CONTRIBUTING.md describes the arguments.
import { parseArgs } from 'node:util';
import { testServer } from './register.ts';

const usage = 'Usage: npm run --silent conformance -- URL --token A --token B [--read-only-token C]';
const { values, positionals } = parseArgs({
  options: { token: { type: 'string', multiple: true, default: [] }, 'read-only-token': { type: 'string' } },
  allowPositionals: true,
});
const [url = '', ...others] = positionals;
const [a = '', b = '', ...moreTokens] = values.token;
if (!URL.canParse(url) || a === '' || b === '' || a === b || others.length + moreTokens.length > 0) {
  console.error(`${usage}\nA and B are bearer tokens of two users that have no other purpose.`);
  process.exit(2);
}
const server = { url: url.replace(/\/+$/, ''), tokens: { a, b, readOnly: values['read-only-token'] } };
testServer('the server', () => server);
