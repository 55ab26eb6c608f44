import { entries } from './entries.ts';

const imports = entries.map(({ module, specifier }) => `import * as ${module} from '${specifier}';`);
const types = entries.flatMap(({ module, types }) =>
  types.map((name) => `export type ${module}_${name} = ${module}.${name};`),
);
const values = entries.flatMap(({ module, values }) => values.map((name) => `${module}.${name}`));

/** A TypeScript program that uses every export of the package, and stores and lists a plant. */
export const program = `
${[...imports, ...types].join('\n')}

const values: unknown[] = [${values.join(', ')}];

async function main(): Promise<void> {
  const store = new index.PlantStore({ storage: new sqlite.SqliteStorage('plants.db', { commitThread: true }) });
  await store.createPlant('ada', { id: 9007199254740993n, name: 'Fern' });
  const plants = fetch.createFetchHandler(store, { authenticate: (user) => ({ user }) });
  const response = await plants(new Request('http://localhost/plants', { headers: { authorization: 'Bearer ada' } }));
  console.log(values.includes(undefined), await response.text());
  await store.close();
}

void main();
`;

/** What the program prints. */
export const programOutput = 'false [{"name":"Fern"}]\n';
