import { readDocument } from '../support/documents.ts';

/** The part of package.json that tests read. */
export interface Manifest {
  readonly version: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string>>;
  readonly allowScripts: Readonly<Record<string, boolean>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, object>>;
}

/** The package.json of the package. */
export const manifest: Manifest = JSON.parse(await readDocument('package.json')) as Manifest;
