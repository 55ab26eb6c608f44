// `plant-store check` runs this file with run() of node:test. The file registers the tests for the server to check.
import { registerTests } from '../../testing/service/test-service.ts';
import { checked, selection } from './check.ts';

registerTests(`the server at ${String(checked.url)}`, checked, selection.only);
