/** One server's figures, by name: either those of one round, or the medians of several rounds. */
export interface Figures {
  /** The user and system time of the server per request. */
  readonly cpuMicros: number;
  readonly [name: string]: number;
}

/** A name, and a function that runs a round. It resolves with `undefined` if no work was left. */
export type Participant = readonly [name: string, measure: () => Promise<Figures | undefined>];

export type Round = ReadonlyMap<string, Figures>;

/** The participant that does the same work in each round, so its CPU time shows whether the machine was steady. */
export const bareName = 'bare node:http';
/** How far the bare participant's CPU time in a steady round may be from its median, as a fraction of the median. */
export const maxDeviation = 0.15;
const maxRepetition = 1.5;

/**
 * Runs rounds until the machine has been steady in `wanted` of them, but at most one and a half times as many. Returns
 * the number of rounds without the first, which is a warm-up, and the steady rounds.
 */
export async function runRounds(
  wanted: number,
  participants: readonly Participant[],
): Promise<{ run: number; steady: readonly Round[] }> {
  const rounds: Round[] = [];
  await runRound(participants);
  while (rounds.length < wanted || (steadyOf(rounds).length < wanted && rounds.length < wanted * maxRepetition)) {
    // The order alternates, so that a gradual change in the machine's speed does not favor one participant of a pair.
    rounds.push(await runRound(rounds.length % 2 === 0 ? participants.toReversed() : participants));
  }
  return { run: rounds.length, steady: steadyOf(rounds) };
}

async function runRound(participants: readonly Participant[]): Promise<Round> {
  const round = new Map<string, Figures>();
  for (const [name, measure] of participants) {
    const figures = await measure();
    if (figures !== undefined) round.set(name, figures);
  }
  return round;
}

export function microsIn(round: Round, name: string): number {
  return round.get(name)?.cpuMicros ?? NaN;
}

/** Returns the rounds in which the bare participant was close to its median. Without this participant, returns all. */
function steadyOf(rounds: readonly Round[]): readonly Round[] {
  const middle = median(rounds.map((round) => microsIn(round, bareName)));
  if (Number.isNaN(middle)) return rounds;
  return rounds.filter((round) => Math.abs(microsIn(round, bareName) / middle - 1) <= maxDeviation);
}

/** Returns the medians of each participant's figures. Omits participants without figures. */
export function mediansOf(rounds: readonly Round[]): Record<string, Figures> {
  const names = new Set(rounds.flatMap((round) => [...round.keys()]));
  const medians = Array.from(names, (name) => {
    const all = rounds.map((round) => round.get(name)).filter((figures) => figures !== undefined);
    const keys = Object.keys(all[0] ?? {});
    return [name, Object.fromEntries(keys.map((key) => [key, median(all.map((figures) => figures[key] ?? NaN))]))];
  });
  return Object.fromEntries(medians) as Record<string, Figures>;
}

function median(numbers: readonly number[]): number {
  return quantile(Float64Array.from(numbers).sort(), 0.5);
}

/**
 * Returns a quantile of sorted numbers, with linear interpolation; NaN for an empty array. Rounds to five digits, which
 * is more precise than any measurement.
 */
export function quantile(sorted: Float64Array, share: number): number {
  const position = (sorted.length - 1) * share;
  const [below = NaN, above = NaN] = [sorted[Math.floor(position)], sorted[Math.ceil(position)]];
  return Number((below + (above - below) * (position % 1)).toPrecision(5));
}
