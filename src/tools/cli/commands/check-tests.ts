// `plant-store check` runs this file with run() of node:test. The file registers the tests for the server to check.
import { testService } from '../../../testing/service/test-service.ts';
import { checked } from './check.ts';

testService(`the server at ${String(checked.url)}`, checked);
