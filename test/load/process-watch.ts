import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

/** Measures the memory, the CPU time and the open files of a process in /proc. On other systems the figures are NaN. */
export class ProcessWatch {
  readonly #folder: string;
  readonly #timers: NodeJS.Timeout[];
  #sampledPeak = NaN;
  #isRecordReset = false;
  #mostFiles = NaN;

  constructor(pid: number) {
    this.#folder = `/proc/${pid}`;
    this.#timers = [
      // Needed if the system does not allow a reset of its own record of the peak.
      setInterval(() => {
        this.#sampledPeak = larger(this.#sampledPeak, this.memory());
      }, 20).unref(),
      setInterval(() => {
        this.#mostFiles = larger(this.#mostFiles, this.openFiles());
      }, 200).unref(),
    ];
  }

  /** The resident memory, in bytes. */
  memory(): number {
    return this.#read('VmRSS');
  }

  /** Resets the maxima. */
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

  /** The peak of the memory since {@link restart}, in bytes; the last sample if the process has ended. */
  peakMemory(): number {
    const record = this.#isRecordReset ? this.#read('VmHWM') : NaN;
    return Number.isNaN(record) ? this.#sampledPeak : record;
  }

  /** The user and system time of all its threads, in seconds. */
  cpuSeconds(): number {
    try {
      const [, , , , , , , , , , , user, system] = readFileSync(`${this.#folder}/stat`, 'latin1')
        .replace(/^.*\) /s, '')
        .split(' ');
      // On Linux, the unit is always a hundredth of a second.
      return (Number(user) + Number(system)) / 100;
    } catch {
      return NaN;
    }
  }

  /** The number of open files and connections. */
  openFiles(): number {
    try {
      return readdirSync(`${this.#folder}/fd`).length;
    } catch {
      return NaN;
    }
  }

  /** The maximum number of open files and connections since {@link restart}. */
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

/** Ignores NaN: a process that has ended has no figures. */
function larger(before: number, now: number): number {
  return now <= before || Number.isNaN(now) ? before : now;
}
