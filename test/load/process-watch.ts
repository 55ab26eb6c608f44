import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

const sampleMs = 100;
/** A process that uses more memory than this is killed, to protect the machine. */
const maxBytes = 8 * 2 ** 30;

/** Measures the memory, the CPU time and the open files of a process in /proc. On other systems the figures are NaN. */
export class ProcessWatch {
  readonly #folder: string;
  readonly #timer: NodeJS.Timeout;
  /** The last figures, which remain when the process has ended. */
  #peakBytes = NaN;
  #mostFiles = NaN;

  constructor(pid: number) {
    this.#folder = `/proc/${pid}`;
    this.#timer = setInterval(() => {
      this.#sample();
      if (this.memory() > maxBytes) process.kill(pid, 'SIGKILL');
    }, sampleMs).unref();
  }

  /** The resident memory, in bytes. */
  memory(): number {
    return this.#read('status', /^VmRSS:\s*(\d+) kB/m) * 1024;
  }

  /** Resets the maxima. */
  restart(): void {
    try {
      // https://docs.kernel.org/filesystems/proc.html: 5 resets VmHWM.
      writeFileSync(`${this.#folder}/clear_refs`, '5');
    } catch {
      // The peak is then that since the start of the process.
    }
    this.#mostFiles = this.openFiles();
  }

  /** The peak of the resident memory since {@link restart}, in bytes. */
  peakMemory(): number {
    this.#sample();
    return this.#peakBytes;
  }

  /** The user and system time of all its threads, in seconds. */
  cpuSeconds(): number {
    // On Linux, the unit is always a hundredth of a second.
    const fields = /^.*\)(?: \S+){11} (\d+) (\d+)/s;
    return (this.#read('stat', fields, 1) + this.#read('stat', fields, 2)) / 100;
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
    clearInterval(this.#timer);
  }

  #sample(): void {
    const [peak, files] = [this.#read('status', /^VmHWM:\s*(\d+) kB/m) * 1024, this.openFiles()];
    if (!Number.isNaN(peak)) this.#peakBytes = peak;
    if (!(files <= this.#mostFiles) && !Number.isNaN(files)) this.#mostFiles = files;
  }

  #read(file: string, pattern: RegExp, group = 1): number {
    try {
      return Number(pattern.exec(readFileSync(`${this.#folder}/${file}`, 'latin1'))?.[group]);
    } catch {
      return NaN;
    }
  }
}
