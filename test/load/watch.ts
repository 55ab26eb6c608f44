import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

/** Sees how much memory a process takes and how many files it has open, where the system tells that in /proc; NaN where not. */
export class ProcessWatch {
  readonly #folder: string;
  readonly #timers: NodeJS.Timeout[];
  #sampledPeak = NaN;
  #isRecordReset = false;
  #mostFiles = NaN;

  constructor(pid: number) {
    this.#folder = `/proc/${pid}`;
    this.#timers = [
      // For where the system's own record of the peak cannot be begun anew.
      setInterval(() => {
        this.#sampledPeak = larger(this.#sampledPeak, this.memory());
      }, 20).unref(),
      setInterval(() => {
        this.#mostFiles = larger(this.#mostFiles, this.openFiles());
      }, 200).unref(),
    ];
  }

  /** What is resident now, in bytes. */
  memory(): number {
    return this.#read('VmRSS');
  }

  /** Begins the peaks anew. */
  restart(): void {
    this.#sampledPeak = this.memory();
    this.#mostFiles = this.openFiles();
    try {
      // https://docs.kernel.org/filesystems/proc.html: 5 resets VmHWM.
      writeFileSync(`${this.#folder}/clear_refs`, '5');
      this.#isRecordReset = true;
    } catch {
      this.#isRecordReset = false;
    }
  }

  /** The most memory since {@link restart}, in bytes; of a process that is gone, as far as it was seen. */
  peakMemory(): number {
    const record = this.#isRecordReset ? this.#read('VmHWM') : NaN;
    return Number.isNaN(record) ? this.#sampledPeak : record;
  }

  /** The user and system time of all its threads so far, in seconds. */
  cpuSeconds(): number {
    try {
      const [, , , , , , , , , , , user, system] = readFileSync(`${this.#folder}/stat`, 'latin1')
        .replace(/^.*\) /s, '')
        .split(' ');
      // The unit is a hundredth on every Linux.
      return (Number(user) + Number(system)) / 100;
    } catch {
      return NaN;
    }
  }

  /** Files and connections that are open now. */
  openFiles(): number {
    try {
      return readdirSync(`${this.#folder}/fd`).length;
    } catch {
      return NaN;
    }
  }

  /** The most since {@link restart}. */
  mostOpenFiles(): number {
    return this.#mostFiles;
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
  }

  #read(field: string): number {
    try {
      const text = readFileSync(`${this.#folder}/status`, 'latin1');
      return Number(new RegExp(`^${field}:\\s*(\\d+) kB`, 'm').exec(text)?.[1]) * 1024;
    } catch {
      return NaN;
    }
  }
}

/** A process that is gone has no figures any more. */
function larger(before: number, now: number): number {
  return now <= before || Number.isNaN(now) ? before : now;
}
