import { registerInstrumentations } from '@opentelemetry/instrumentation';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { BatchSpanProcessor, ConsoleSpanExporter, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { createRequire } from 'node:module';

const spanProcessors = [new BatchSpanProcessor(new ConsoleSpanExporter(), { scheduledDelayMillis: 100 })];
new NodeTracerProvider({ spanProcessors }).register();
registerInstrumentations({ instrumentations: [new HttpInstrumentation()] });
// The instrumentation applies to node:http when a CommonJS module loads it.
createRequire(import.meta.url)('node:http');

const { PlantStore } = await import('plant-store');
const { createPlantServer } = await import('plant-store/http');
const { SqliteStorage } = await import('plant-store/sqlite');

const store = new PlantStore({ storage: new SqliteStorage('plants.db') });
const server = createPlantServer(store, {
  authenticate: (token) => (token === process.env.ADAS_TOKEN ? { user: 'ada' } : null),
});
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log('listening on', server.address());
});
