import { createClient, deliverTo } from '../conformance/client.ts';
import { expectLinearizable } from '../conformance/linearizable.ts';
import { pick } from './pick.ts';
import type { Service } from './service.ts';

/**
 * Sends concurrent requests, each to a random service, and checks that the responses are linearizable. Returns how many
 * requests failed with a 5xx. Calls `afterResponse` after each response.
 */
export async function countFailures(
  services: readonly Service[],
  afterResponse?: () => Promise<unknown>,
): Promise<number> {
  let failures = 0;
  const client = createClient({
    url: '',
    tokens: { a: 'ada', b: 'bob' },
    deliver: async (request) => {
      const exchange = await deliverTo(pick(services).url)(request);
      if (exchange.status >= 500) failures++;
      await afterResponse?.();
      return exchange;
    },
  });
  await expectLinearizable(client);
  return failures;
}
