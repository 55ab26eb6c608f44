import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose_gc');

/** Collects the garbage of this process. A WeakRef keeps its target until the end of the event loop iteration. */
export const collectGarbage = runInNewContext('gc') as () => void;
