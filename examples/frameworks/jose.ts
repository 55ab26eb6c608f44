// Accepts access tokens from an OpenID Connect provider (RFC 9068) instead of a tokens file.
import { createRemoteJWKSet, errors, jwtVerify } from 'jose';
import { PlantStore } from 'plant-store';
import { createPlantServer } from 'plant-store/http';
import type { Authenticate } from 'plant-store/http';
import { SqliteStorage } from 'plant-store/sqlite';

const issuer = process.env.ISSUER ?? 'https://login.example.com';
const keys = createRemoteJWKSet(new URL(process.env.JWKS_URL ?? `${issuer}/.well-known/jwks.json`));

/** The error codes that jose uses for an invalid token. For any other error, the server responds with 500. */
const invalidToken = /^ERR_(?:JWS_|JWT_|JWKS_NO_MATCHING_KEY|JOSE_ALG_NOT_ALLOWED|JOSE_NOT_SUPPORTED)/;

const authenticate: Authenticate = async (token) => {
  try {
    const { payload } = await jwtVerify(token, keys, { issuer, audience: 'plants', requiredClaims: ['sub', 'exp'] });
    const scopes = String(payload.scope ?? '').split(' ');
    return payload.sub ? { user: payload.sub, scopes } : null; // An empty `sub` does not identify a user.
  } catch (error) {
    if (error instanceof errors.JOSEError && invalidToken.test(error.code)) return null;
    throw error;
  }
};

const store = new PlantStore({ storage: new SqliteStorage('plants.db') });
const server = createPlantServer(store, { authenticate });
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log('listening on', server.address());
});
