import { authenticationCases, scopeCases } from './cases/access.ts';
import { errorCases, errorCodeCases, invalidBodyCases, invalidPlantCases, orderCases } from './cases/invalid.ts';
import { listCases, pagingCases } from './cases/list.ts';
import { openApiCases } from './cases/openapi.ts';
import { createCases, deleteCases, isolationCases, takenIdCases } from './cases/plants.ts';
import { headerCases, methodCases } from './cases/protocol.ts';
import { int64Cases, stringCases } from './cases/values.ts';
import type { CheckCase } from './run-cases.ts';

/** All checks, in the order in which they run. */
export const checkCases: readonly CheckCase[] = [
  ...createCases,
  ...takenIdCases,
  ...listCases,
  ...pagingCases,
  ...deleteCases,
  ...isolationCases,
  ...authenticationCases,
  ...scopeCases,
  ...int64Cases,
  ...stringCases,
  ...invalidPlantCases,
  ...invalidBodyCases,
  ...errorCases,
  ...errorCodeCases,
  ...orderCases,
  ...methodCases,
  ...headerCases,
  // These checks must run last, because they compare the OpenAPI document with the responses to all other checks.
  ...openApiCases,
];
