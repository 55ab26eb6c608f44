// Uses the store in this process, with an SQLite file and without a server.
// In a project of type "module" with Plant Store installed, run `npx node embed.ts [FILE]`.
// In a clone of Plant Store, run `npm run build && npx node examples/embed.ts [FILE]`.
import { isPlantStoreError, PlantStore } from 'plant-store';
import { SqliteStorage } from 'plant-store/sqlite';

const store = new PlantStore({ storage: new SqliteStorage(process.argv[2] ?? 'plants.db') });

try {
  await store.createPlant('ada', { id: 9007199254740993n, name: 'Fern', tag: 'indoor' });
} catch (error) {
  // On the second run, the file already contains the plant.
  if (!isPlantStoreError(error) || error.code !== 'id_taken') throw error;
}

// Memory use does not depend on the number of plants.
for await (const { id, name, tag = 'none' } of store.iteratePlants('ada')) {
  console.log(`${id} ${name} (${tag})`);
}

await store.close();
