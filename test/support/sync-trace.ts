/** The acknowledgments and WAL syncs of a server over SQLite, according to its system calls. */
export interface SyncTrace {
  readonly acknowledged: number;
  /** The number of WAL syncs that synced new writes. */
  readonly syncs: number;
  /** The acknowledgments that were sent before their writes were synced. */
  readonly tooEarly: string[];
}

/** The system calls that {@link readSyncTrace} reads. strace also needs the options `-f` and `-y`. */
export const syncTraceCalls = 'read,write,writev,pwrite64,fdatasync,fsync';

interface Exchange {
  readonly isWrite: boolean;
  readonly readAt: number;
}

/**
 * Reads the output of strace. A 200 or 204 response to a POST or DELETE request must follow a successful sync of the
 * WAL. The sync must follow all writes to the WAL since the request was read.
 */
export function readSyncTrace(output: string): SyncTrace {
  const exchanges = new Map<string, Exchange>();
  const tooEarly: string[] = [];
  let [acknowledged, syncs, loggedAt, syncedUpTo] = [0, 0, -1, -1];
  for (const [at, line] of completedCalls(output).entries()) {
    const [, call = '', target = '', rest = ''] = /^(\w+)\(\d+<([^>]*)>(.*)$/s.exec(line) ?? [];
    const isLog = target.endsWith('-wal');
    if (call === 'read' && target.startsWith('socket:')) {
      const method = /^, "(GET|POST|DELETE) /.exec(rest)?.[1];
      const isWrite = method === undefined ? (exchanges.get(target)?.isWrite ?? false) : method !== 'GET';
      exchanges.set(target, { isWrite, readAt: at });
    } else if (call === 'pwrite64' && isLog) {
      loggedAt = at;
    } else if (call.endsWith('sync') && isLog && rest.endsWith('= 0')) {
      if (loggedAt > syncedUpTo) syncs++;
      syncedUpTo = loggedAt;
    } else if (call.startsWith('write') && rest.includes('"HTTP/1.1 20')) {
      const exchange = exchanges.get(target);
      if (exchange?.isWrite !== true) continue;
      acknowledged++;
      if (syncedUpTo < loggedAt || syncedUpTo < exchange.readAt) tooEarly.push(`call ${at}: ${line}`);
    }
  }
  return { acknowledged, syncs, tooEarly };
}

/**
 * Returns the system calls in order. A call that another thread interrupts has two lines in the output. The position of
 * an interrupted call is that of its second line, but the position of an interrupted write is that of its first line.
 */
function completedCalls(output: string): string[] {
  const begun = new Map<string, string>();
  const calls: string[] = [];
  for (const line of output.split('\n')) {
    const [, thread = '', text = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
    const [, beginning] = /^(.*) <unfinished \.\.\.>$/.exec(text) ?? [];
    const [, ending] = /^<\.\.\. \w+ resumed>(.*)$/.exec(text) ?? [];
    if (beginning !== undefined) {
      if (beginning.startsWith('write')) calls.push(beginning);
      else begun.set(thread, beginning);
    } else if (ending !== undefined) {
      const start = begun.get(thread);
      if (start !== undefined) calls.push(start + ending);
      begun.delete(thread);
    } else {
      calls.push(text);
    }
  }
  return calls;
}
