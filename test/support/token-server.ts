import { join } from 'node:path';
import { issueToken } from '../../src/tokens/issue.ts';
import { callService } from './call.ts';
import type { Answered, Call } from './call.ts';
import { startServer } from './command-line.ts';
import type { CommandContext } from './command-line.ts';
import type { ServerProcess } from './server-process.ts';
import { temporaryFolder } from './temporary-folder.ts';
import type { HasAfter } from './temporary-folder.ts';

/** Creates a folder with the tokens file `tokens.json`, which contains one token. It is removed after the test. */
export async function folderWithToken(t: HasAfter, user = 'ada') {
  const cwd = await temporaryFolder(t);
  const tokens = join(cwd, 'tokens.json');
  const { token, record } = await issueToken(tokens, { user });
  return { cwd, tokens, token, tokenId: record.id };
}

export type TokenFolder = Awaited<ReturnType<typeof folderWithToken>>;
export type TokenServer = Awaited<ReturnType<typeof startTokenServer>>;

/** Starts `plant-store serve` in a folder with a token, by default in a new folder. */
export async function startTokenServer(
  t: HasAfter,
  args: string[],
  { folder, ...context }: Partial<CommandContext> & { folder?: TokenFolder } = {},
) {
  const given = folder ?? (await folderWithToken(t));
  const server = await startServer(t, args, { cwd: given.cwd, ...context });
  const call = (method: string, target: string, options?: Call): Promise<Answered> =>
    callService(server.url, method, target, { token: given.token, ...options });
  return {
    ...given,
    server,
    call,
    create: (id: number) => call('POST', '/plants', { body: `{"id":${id},"name":"plant ${id}"}` }),
    log: () => {
      const lines = server.stderr().split('\n').slice(0, -1);
      return lines.map((line) => JSON.parse(line) as Record<string, string | number>);
    },
  };
}

/** Returns the URL of the admin port, which the server prints after the URL of the public port. */
export function adminUrlOf(server: ServerProcess): Promise<string> {
  return server.printed(/^Health and metrics: (\S+)$/m);
}
