import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import { plainEnvironment, runSuccessfully } from '../support/run-program.ts';
import { apps } from './program.ts';

/** Builds an app with a route in a folder, and returns the Node.js arguments that serve it on `process.env.PORT`. */
export type Build = (folder: string, route: string) => Promise<string[]>;

const packages = join(apps, 'node_modules');
const vite = join(packages, 'vite/bin/vite.js');
const next = join(packages, 'next/dist/bin/next');

export const buildSvelteKit: Build = async (folder, route) => {
  await build(folder, [vite, 'build'], {
    'src/routes/garden/[...path]/+server.ts': route,
    'src/app.html': '%sveltekit.head%%sveltekit.body%',
    'vite.config.js': `
      import adapter from '@sveltejs/adapter-node';
      import { sveltekit } from '@sveltejs/kit/vite';
      export default { plugins: [sveltekit({ adapter: adapter(), csrf: { trustedOrigins: ['*'] } })] };
    `,
  });
  return ['build'];
};

export const buildNext: Build = async (folder, route) => {
  await build(folder, [next, 'build'], {
    // With TypeScript, Next.js would install packages.
    'app/garden/[[...path]]/route.js': stripTypeScriptTypes(route),
    // The default root is the folder, but node_modules is a link.
    'next.config.js': "export default { skipTrailingSlashRedirect: true, turbopack: { root: '/' } };",
  });
  return [next, 'start', '--hostname', '127.0.0.1', '--port', '0'];
};

async function build(folder: string, args: string[], files: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  await symlink(packages, join(folder, 'node_modules'), 'dir');
  const env = { ...plainEnvironment(), NODE_V8_COVERAGE: '', NEXT_TELEMETRY_DISABLED: '1' };
  await runSuccessfully(process.execPath, args, { cwd: folder, env, timeoutMs: 540_000 });
}
