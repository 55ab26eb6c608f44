import type { CheckCase } from './check-case.ts';
import { authenticationCases } from './cases/authentication.ts';
import { createCases } from './cases/create.ts';
import { deleteCases } from './cases/delete.ts';
import { errorCodeCases } from './cases/error-codes.ts';
import { errorCases } from './cases/errors.ts';
import { headerCases } from './cases/headers.ts';
import { int64Cases } from './cases/int64.ts';
import { invalidBodyCases } from './cases/invalid-bodies.ts';
import { invalidPlantCases } from './cases/invalid-plants.ts';
import { isolationCases } from './cases/isolation.ts';
import { listCases } from './cases/list.ts';
import { methodCases } from './cases/methods.ts';
import { openApiCases } from './cases/openapi.ts';
import { orderCases } from './cases/order.ts';
import { pagingCases } from './cases/paging.ts';
import { scopeCases } from './cases/scopes.ts';
import { stringCases } from './cases/strings.ts';
import { takenIdCases } from './cases/taken-id.ts';

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
  // These checks must run last, because they compare the document with the responses that all other checks have
  // received.
  ...openApiCases,
];
