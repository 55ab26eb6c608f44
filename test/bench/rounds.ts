/** One server's figures, by name: either those of one round, or the medians of several rounds. */
export interface Figures {
  /** The user and system time of the server per request. */
  readonly cpuMicros: number;
  readonly [name: string]: number;
}

/** A server that is measured in each round. */
export interface Participant {
  readonly name: string;
  /** Resolves with `undefined` if no work was left. */
  readonly measure: () => Promise<Figures | undefined>;
}

/** The figures of each participant, by the participant's name. */
export type Round = ReadonlyMap<string, Figures>;

/** The participant that does the same work in each round, so its CPU time shows whether the machine was steady. */
export const bareName = 'bare node:http';
/** How far the bare participant's CPU time in a steady round may be from its median, as a fraction of the median. */
export const maxDeviation = 0.15;
/** The maximum number of rounds, as a multiple of `wanted`. */
const maxRounds = 1.5;

/**
 * Runs rounds until the machine has been steady in `wanted` of them, or until the maximum number of rounds is reached.
 * Returns the number of rounds without the first, which is a warm-up, and the steady rounds.
 */
export async function runRounds(
  wanted: number,
  participants: readonly Participant[],
): Promise<{ run: number; steady: readonly Round[] }> {
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
function steadyOf(rounds: readonly Round[]): readonly Round[] {
  const microsOf = (round: Round): number => round.get(bareName)?.cpuMicros ?? NaN;
  const middle = median(rounds.map(microsOf).filter((micros) => !Number.isNaN(micros)));
  if (Number.isNaN(middle)) return rounds;
  return rounds.filter((round) => Math.abs(microsOf(round) / middle - 1) <= maxDeviation);
}

/** Returns the medians of each participant's figures. Omits participants without figures. */
export function mediansOf(rounds: readonly Round[]): Record<string, Figures> {
  const names = new Set(rounds.flatMap((round) => [...round.keys()]));
  return Object.fromEntries(
    Array.from(names, (name) => {
      const all = rounds.map((round) => round.get(name)).filter((figures) => figures !== undefined);
      const keys = Object.keys(all[0] ?? {});
      const medians = keys.map((key) => [key, rounded(median(all.map((figures) => figures[key] ?? NaN)))]);
      return [name, Object.fromEntries(medians) as Figures];
    }),
  );
}

/** Rounds to five digits, which is more precise than any measurement. */
export function rounded(value: number): number {
  return Number(value.toPrecision(5));
}

export function median(numbers: readonly number[]): number {
  return quantile(Float64Array.from(numbers).sort(), 0.5);
}

/** Returns a quantile of sorted numbers, with linear interpolation; NaN for an empty array. */
export function quantile(sorted: Float64Array, share: number): number {
  const position = (sorted.length - 1) * share;
  const [below = NaN, above = NaN] = [sorted[Math.floor(position)], sorted[Math.ceil(position)]];
  return below + (above - below) * (position % 1);
}
