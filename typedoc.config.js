/** The names of these members say everything. */
const selfExplanatory = [
  ...['CreateWrite.kind', 'CreateWrite.user', 'CreateWrite.plant', 'DeleteWrite.kind', 'DeleteWrite.user'],
  ...['DeleteWrite.id', 'OwnedPlant.user', 'OwnedPlant.plant'],
].map((name) => `plant-store.${name}`);

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
  intentionallyNotDocumented: [
    ...selfExplanatory,
    ...['kind', 'user', 'id'].map((name) => `plant-store/testing.FaultyWrite.__type.${name}`),
    'plant-store/fetch.FailedRequest.method',
  ],
};
