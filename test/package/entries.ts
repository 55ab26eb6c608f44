/** A public entry of the package, and its exports. */
export interface Entry {
  /** The key in `exports` of package.json. */
  readonly subpath: string;
  /** Whether the types of the entry need `@types/node`; default `false`. */
  readonly needsNodeTypes?: boolean;
  /** The exported functions, classes and constants, in alphabetical order. */
  readonly values: readonly string[];
  /** The exported types, in alphabetical order. */
  readonly types: readonly string[];
}

/** The public API. Every change of this table changes the API, so describe it in CHANGELOG.md. */
export const entries: readonly Entry[] = [
  {
    subpath: '.',
    values: ['MemoryStorage', 'PlantStore', 'PlantStoreError', 'copyPlants', 'errorTable'],
    types: [
      ...['CommitMessage', 'CopyCounts', 'CopyPlantsOptions', 'ErrorCode', 'JsonPage', 'ListOptions', 'NewPlant'],
      ...['Plant', 'PlantConflict', 'PlantId', 'PlantStoreOptions', 'StorageAdapter'],
    ],
  },
  {
    subpath: './adapter',
    values: [],
    types: [
      ...['CreateWrite', 'DeleteWrite', 'ListRange', 'OwnedPlant', 'Plant', 'PlantId', 'PlantPage', 'StorageAdapter'],
      'Write',
    ],
  },
  {
    subpath: './fetch',
    values: ['createFetchHandler'],
    types: ['AuthRequest', 'Authenticate', 'Caller', 'FailedRequest', 'RequestMessage', 'Scope', 'ServiceOptions'],
  },
  {
    subpath: './http',
    needsNodeTypes: true,
    values: ['createPlantServer', 'createRequestListener', 'drainServer', 'openApiDocument'],
    types: [
      ...['AuthRequest', 'Authenticate', 'Caller', 'FailedRequest', 'PlantServer', 'RequestMessage', 'Scope'],
      ...['ServiceListener', 'ServiceOptions'],
    ],
  },
  { subpath: './postgres', values: ['PostgresStorage'], types: ['PostgresPool', 'PostgresStorageOptions'] },
  { subpath: './sqlite', values: ['SqliteStorage'], types: ['SqliteStorageOptions'] },
  {
    subpath: './testing',
    values: ['testService', 'testStorageAdapter'],
    types: [
      ...['FaultyWrite', 'LocationContext', 'ServerContext', 'ServiceTestOptions', 'ServiceTokens'],
      ...['StorageAdapterTestOptions', 'StorageLocation'],
    ],
  },
  {
    subpath: './tokens',
    values: ['createTokenFileAuthenticator'],
    types: ['AuthRequest', 'Authenticate', 'Caller', 'Scope', 'TokenFileOptions'],
  },
];

/** Returns the specifier with which a program imports an entry, such as `plant-store/http`. */
export function specifierOf({ subpath }: Entry): string {
  return `plant-store${subpath.slice(1)}`;
}

/** Returns the file of an entry without its folder and extension, such as `http`. */
export function moduleOf({ subpath }: Entry): string {
  return subpath === '.' ? 'index' : subpath.slice(2);
}
