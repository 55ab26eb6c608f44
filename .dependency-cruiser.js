const adapters = ['memory', 'sqlite', 'postgres'];

/**
 * The folders of `src` (rooms): the pattern of their paths, and the rooms from which they import. A room may also
 * import from all rooms below these. CONTRIBUTING.md contains a diagram.
 */
const rooms = {
  entries: ['^src/[^/]+\\.ts$', 'adapterSuite', 'transfer', 'node', 'fetch', 'tokens', ...adapters],
  cli: ['^src/cli/', 'transfer', 'node', 'tokens', ...adapters],
  adapterSuite: ['^src/testing/', 'core'],
  transfer: ['^src/transfer/', 'core'],
  node: ['^src/http/node/', 'http'],
  fetch: ['^src/http/fetch/', 'http'],
  http: ['^src/http/[^/]+\\.ts$', 'core'],
  tokens: ['^src/tokens/', 'core', 'files'],
  memory: ['^src/storage/memory/', 'core'],
  sqlite: ['^src/storage/sqlite/', 'core', 'files'],
  postgres: ['^src/storage/postgres/', 'core'],
  core: ['^src/core/[^/]+\\.ts$', 'model', 'boundary'],
  model: ['^src/core/model/'],
  boundary: ['^src/boundary/'],
  files: ['^src/files/'],
};

/** Returns the patterns of a room and of all rooms below it. */
function reachable(name) {
  const [path, ...below] = rooms[name];
  return [path, ...below.flatMap(reachable)];
}

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    { name: 'no-circle', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'fetch-without-node-http',
      severity: 'error',
      from: { path: '^src/(http/[^/]+|http/fetch/.+|core/.+|boundary/.+)\\.ts$' },
      to: { path: '^(node:)?http$', dependencyTypesNot: ['type-only'] },
    },
    ...Object.entries(rooms).map(([name, [path]]) => ({
      name: `${name}-imports-from-below`,
      severity: 'error',
      from: { path },
      to: { path: '^src/', pathNot: reachable(name) },
    })),
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
  },
};
