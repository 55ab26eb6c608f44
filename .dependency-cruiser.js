/**
 * The folders of `src` (rooms), arranged in layers (floors) from top to bottom. A folder imports only from folders in
 * lower layers, never from a higher layer or from another folder in the same layer.
 */
const floors = [
  ['^src/[^/]+\\.ts$'],
  ['^src/tools/'],
  ['^src/transfer/', '^src/testing/storage/', '^src/testing/service/'],
  ['^src/http/node/', '^src/http/fetch/'],
  ['^src/http/[^/]+\\.ts$', '^src/tokens/'],
  ['^src/storage/memory/', '^src/storage/sqlite/', '^src/storage/postgres/'],
  ['^src/core/[^/]+\\.ts$'],
  ['^src/core/model/'],
];

const rooms = floors.flatMap((floor, level) => floor.map((room) => ({ room, level })));

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    { name: 'no-circle', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'fetch-without-node-http',
      severity: 'error',
      from: { path: '^src/(http/[^/]+|http/fetch/.+|core/.+)\\.ts$' },
      to: { path: '^(node:)?http$', dependencyTypesNot: ['type-only'] },
    },
    ...rooms.map(({ room, level }) => ({
      name: `room ${room} imports only from rooms below it`,
      severity: 'error',
      from: { path: room },
      to: { path: rooms.filter((other) => other.room !== room && other.level <= level).map((other) => other.room) },
    })),
  ].filter(({ to }) => to.path === undefined || to.path.length > 0),
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
  },
};
