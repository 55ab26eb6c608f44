import assert from 'node:assert/strict';
import { it } from 'node:test';
import { checkCases } from '../../src/kits/conformance/cases.ts';
import { CheckClient } from '../../src/kits/conformance/check-client.ts';
import type { Send } from '../../src/kits/conformance/exchange.ts';
import { runCases } from '../../src/kits/conformance/run-cases.ts';
import { sendByFetch } from '../../src/kits/conformance/send-by-fetch.ts';
import { tokens } from '../kits/conformance/run-checks.ts';
import { assertDescribed } from '../support/described.ts';
import { describeOnBothFronts } from '../support/service.ts';

describeOnBothFronts('conformance checks', (startService) => {
  for (const check of checkCases) {
    it(`${check.name} (${check.id})`, async (t) => {
      const service = await startService(t);
      const fetched = sendByFetch(service.url, { fetch: service.send });
      const send: Send = async (request) => {
        const response = await fetched(request);
        assertDescribed(request.method, request.target, response);
        return response;
      };
      const client = new CheckClient({ send, baseUrl: service.url, tokens });
      for await (const result of runCases([check], client)) {
        // In this test, a SHOULD is as mandatory as a MUST.
        assert.equal(result.outcome, 'passed', JSON.stringify(result, undefined, 2));
      }
      assert.deepEqual(await service.store.listPlants('ada'), []);
      assert.deepEqual(await service.store.listPlants('bob'), []);
      assert.deepEqual(service.faults, []);
    });
  }
});
