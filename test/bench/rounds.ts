import { bareName, median, rounded } from './report.ts';

/** One participant's figures, by name: either those of one round, or the medians of several rounds. */
export interface Figures {
  /** The user and system time of the process, per request or for the whole task. */
  readonly cpuMicros: number;
  readonly [name: string]: number;
}

/** A server or a program that is measured in each round. */
export interface Participant {
  readonly name: string;
  /** Resolves with `undefined` if no work was left. */
  readonly measure: () => Promise<Figures | undefined>;
}

/** The figures of each participant, by the participant's name. */
export type Round = ReadonlyMap<string, Figures>;

export interface Rounds {
  /** How many rounds were run, not counting the first round, which is a warm-up. */
  readonly run: number;
  /** The rounds in which the machine was steady. */
  readonly steady: readonly Round[];
}

/** How far the bare participant's CPU time in a steady round may be from its median, as a fraction of the median. */
export const maxDeviation = 0.15;

/** The maximum number of rounds, as a multiple of `wanted`. */
const maxRounds = 1.5;

/**
 * Runs rounds until the machine has been steady in `wanted` of them, or until the maximum number of rounds is reached.
 */
export async function runRounds(wanted: number, participants: readonly Participant[]): Promise<Rounds> {
  const rounds: Round[] = [];
  let steady: readonly Round[] = [];
  await runRound(participants);
  while (rounds.length < wanted || (steady.length < wanted && rounds.length < wanted * maxRounds)) {
    // The order alternates, so that a gradual change in the machine's speed does not favor one participant of a pair.
    rounds.push(await runRound(rounds.length % 2 === 0 ? participants.toReversed() : participants));
    steady = steadyOf(rounds);
  }
  return { run: rounds.length, steady };
}

async function runRound(participants: readonly Participant[]): Promise<Round> {
  const round = new Map<string, Figures>();
  for (const { name, measure } of participants) {
    const figures = await measure();
    if (figures !== undefined) round.set(name, figures);
  }
  return round;
}

/** Returns the rounds in which the bare participant was close to its median. Without this participant, returns all. */
export function steadyOf(rounds: readonly Round[]): readonly Round[] {
  const bare = rounds.map((round) => round.get(bareName)?.cpuMicros).filter((micros) => micros !== undefined);
  if (bare.length === 0) return rounds;
  const middle = median(bare);
  return rounds.filter((round) => {
    const micros = round.get(bareName)?.cpuMicros ?? NaN;
    return Math.abs(micros / middle - 1) <= maxDeviation;
  });
}

/** Returns the medians of each participant's figures. Omits participants without figures. */
export function mediansOf(rounds: readonly Round[], participants: readonly Participant[]): Record<string, Figures> {
  const medians: Record<string, Figures> = {};
  for (const { name } of participants) {
    const all = rounds.map((round) => round.get(name)).filter((figures) => figures !== undefined);
    if (all.length === 0) continue;
    const medianOf = (key: string): number => rounded(median(all.map((figures) => figures[key] ?? NaN)));
    const others = Object.keys(all[0] ?? {}).map((key) => [key, medianOf(key)] as const);
    medians[name] = { cpuMicros: medianOf('cpuMicros'), ...Object.fromEntries(others) };
  }
  return medians;
}
