import { errorTable } from './src/core/model/errors.ts';

/** The rows of the error table are data and need no comments. */
const errorRows = Object.entries(errorTable).flatMap(([code, row]) => [
  `plant-store.errorTable.__type.${code}`,
  ...Object.keys(row).map((field) => `plant-store.errorTable.__type.${code}.__type.${field}`),
]);

/** The names of these members say everything. */
const selfExplanatory = [
  ...['CreateWrite.kind', 'CreateWrite.user', 'CreateWrite.plant', 'DeleteWrite.kind', 'DeleteWrite.user'],
  ...['DeleteWrite.id', 'OwnedPlant.user', 'OwnedPlant.plant'],
].map((name) => `plant-store/adapter.${name}`);

/** @type {import('typedoc').TypeDocOptions} */
export default {
  name: 'Plant Store',
  entryPoints: ['src/*.ts'],
  tsconfig: 'tsconfig.build.json',
  out: 'reference',
  readme: 'none',
  excludePrivate: true,
  disableSources: true,
  treatWarningsAsErrors: true,
  validation: {
    notExported: true,
    invalidLink: true,
    invalidPath: true,
    rewrittenLink: true,
    notDocumented: true,
    unusedMergeModuleWith: true,
  },
  requiredToBeDocumented: [
    'Class',
    'Constructor',
    'Function',
    'Interface',
    'Method',
    'Module',
    'Property',
    'TypeAlias',
    'Variable',
  ],
  intentionallyNotDocumented: [...errorRows, ...selfExplanatory, 'plant-store/fetch.FailedRequest.method'],
};
