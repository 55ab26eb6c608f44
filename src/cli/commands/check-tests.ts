// The test file that `plant-store check` passes to run() of node:test.
import { registerTests } from '../../testing/service/test-service.ts';
import { checked, selection } from './check.ts';

registerTests(`the server at ${String(checked.url)}`, checked, selection.only);
