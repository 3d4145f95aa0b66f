// Measures subjects in turns and prints a line for each.
import { cpuOf, cpuOfMachine } from "@svc/testing";
import { load } from "./load.ts";
import type { Load, LoadRequest } from "./load.ts";
import { untilIdle, untilQuiet } from "./processes.ts";
import type { Groups } from "./processes.ts";

const NAME_WIDTH = 54;
const WARM_UP_SECONDS = 1;

/** CPU microseconds for each request by the names of processes, and the share of the machine that others used. */
interface Cpu {
  cpu: Record<string, number>;
  others: number;
}

/** What is measured: `run` does it for some seconds; the CPU of `groups` is counted. */
export interface Subject {
  name: string;
  groups: Groups;
  run: (seconds: number) => Promise<Load>;
  /** Subjects of the same round that it is compared with. */
  relativeTo?: readonly Subject[];
}

/** A subject as ratios to another one: the medians of the rounds. */
export interface Comparison {
  rate: number;
  p50: number;
  p99: number;
  cpu: number;
}

/** Returns a subject of a load. */
export const loadOf = (name: string, groups: Groups, request: LoadRequest): Subject => ({
  name,
  groups,
  run: (seconds) => load(request, seconds),
});

const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[(values.length - 1) >> 1] ?? NaN;

/** A rate with its slowest and fastest run. */
export const rateText = ({ perSecond, min, max }: { perSecond: number; min: number; max: number }) =>
  `${perSecond.toFixed(0).padStart(6)}/s [${min.toFixed(0)}-${max.toFixed(0)}]`;

/** Formats median and 99th percentile. */
export const timesText = ({ p50, p99 }: { p50: number; p99: number }) =>
  `p50 ${p50.toFixed(2)} ms  p99 ${p99.toFixed(2)} ms`;

/** Prints a figure with the result of `countCpu`; `bad` has unexpected events. */
export function printFigure(
  name: string,
  text: string,
  { cpu, others = 0, bad = {} }: Partial<Cpu> & { bad?: Record<string, number> } = {},
) {
  const invalid = Object.entries(bad).filter(([, count]) => count > 0);
  const errors = invalid.length === 0 ? "" : ` UNEXPECTED ${JSON.stringify(Object.fromEntries(invalid))}`;
  const costs = cpu === undefined ? "" : `  CPU µs each ${JSON.stringify(cpu)}  others ${Math.round(others * 100)} %`;
  console.log(`${name.padEnd(NAME_WIDTH)} ${text}${costs}${errors}`);
}

/** The run with the median of its rate, with the slowest and fastest rate, and the faults of all runs. */
export function medianRun<Run extends { perSecond: number; bad: Record<string, number> }>(all: readonly Run[]) {
  const sorted = [...all].sort((a, b) => a.perSecond - b.perSecond);
  const run = sorted[(sorted.length - 1) >> 1];
  if (run === undefined) throw new Error("nothing was measured");
  const bad: Record<string, number> = {};
  for (const [error, count] of all.flatMap((one) => Object.entries(one.bad))) bad[error] = (bad[error] ?? 0) + count;
  return { ...run, bad, min: sorted[0]?.perSecond ?? NaN, max: sorted.at(-1)?.perSecond ?? NaN };
}

/**
 * Counts the CPU of a run: call it at the start, and the returned function at the end with the number of requests.
 * `cpu` is per request (`load` is the load generator), `others` the share of the machine that unrelated processes used
 * (0 if unknown).
 */
export function countCpu(groups: Groups): (requests: number) => Cpu {
  const read = () => {
    const { user, system } = process.cpuUsage();
    const own: Groups = { ...cpuOf(groups), load: (user + system) / 1_000 };
    return { machine: cpuOfMachine(), groups: own };
  };
  const before = read();
  return (requests) => {
    const after = read();
    const own = Object.entries(before.groups).map(([name, ms]) => [name, (after.groups[name] ?? 0) - ms] as const);
    const cpu = Object.fromEntries(own.map(([name, ms]) => [name, Math.round((ms * 1_000) / Math.max(1, requests))]));
    if (before.machine === null || after.machine === null) return { cpu, others: 0 };
    const busy = after.machine.busy - before.machine.busy - own.reduce((sum, [, ms]) => sum + ms, 0);
    return { cpu, others: Math.max(0, busy / (after.machine.total - before.machine.total)) };
  };
}

async function runOnce({ groups, run }: Subject, seconds: number): Promise<Load & Cpu> {
  await untilQuiet();
  const endCount = countCpu(groups);
  const result = await run(seconds);
  const counted = endCount(result.requests);
  await untilIdle(groups);
  return { ...result, ...counted };
}

/** Above this share of the machine used by others a run counts as disturbed. */
const DISTURBED = 0.1;

/**
 * Makes rounds until enough of them were undisturbed, at most twice as many as requested, and returns the least
 * disturbed ones. A round is a list of runs.
 */
export async function makeRounds<Run extends { others: number }>(
  wanted: number,
  makeRound: () => Promise<Run[]>,
): Promise<Run[][]> {
  const rounds: Run[][] = [];
  const disturbance = (round: Run[]) => Math.max(...round.map(({ others }) => others));
  const isEnough = () => rounds.filter((round) => disturbance(round) < DISTURBED).length >= wanted;
  while (rounds.length < 2 * wanted && !isEnough()) rounds.push(await makeRound());
  return rounds.sort((a, b) => disturbance(a) - disturbance(b)).slice(0, wanted);
}

/**
 * Measures subjects: after a warm-up, one run of each per round, so that other load of the machine affects all of them
 * alike. Prints the run with the median rate, and the comparisons: the median of the rounds' ratios, which is robust
 * against a slow minute. Returns the comparisons in order.
 */
export async function measure(
  subjects: readonly Subject[],
  { runs, seconds }: { runs: number; seconds: number },
): Promise<Comparison[]> {
  const comparisons: Comparison[] = [];
  for (const subject of subjects) await runOnce(subject, WARM_UP_SECONDS);
  const rounds = await makeRounds(runs, async () => {
    const round = [];
    for (const subject of subjects) round.push(await runOnce(subject, seconds));
    return round;
  });
  const runsOf = (subject: Subject) => rounds.flatMap((round) => round[subjects.indexOf(subject)] ?? []);
  for (const subject of subjects) {
    const own = runsOf(subject);
    const shown = medianRun(own);
    printFigure(subject.name, `${rateText(shown)}  ${timesText(shown)}`, shown);
    for (const other of subject.relativeTo ?? []) {
      const others = runsOf(other);
      const compare = (valueOf: (run: Load & Cpu) => number) => {
        const ratios = own.map((run, index) => valueOf(run) / valueOf(others[index] ?? run));
        const [low, high] = [Math.min(...ratios), Math.max(...ratios)].map((ratio) => ratio.toFixed(2));
        return { ratio: median(ratios), text: `${median(ratios).toFixed(2)} [${low}-${high}]` };
      };
      const rate = compare(({ perSecond }) => perSecond);
      const p50 = compare((run) => run.p50);
      const p99 = compare((run) => run.p99);
      const cpu = compare(cpuOfServers);
      const parts = [`rate ${rate.text}`, `p50 ${p50.text}`, `p99 ${p99.text}`, `CPU ${cpu.text}`];
      printFigure("", `× ${other.name}: ${parts.join("  ")}`);
      comparisons.push({ rate: rate.ratio, p50: p50.ratio, p99: p99.ratio, cpu: cpu.ratio });
    }
  }
  return comparisons;
}

/** CPU microseconds for each request of all processes but the load generator. */
const cpuOfServers = ({ cpu }: Cpu) =>
  Object.entries(cpu).reduce((sum, [name, us]) => (name === "load" ? sum : sum + us), 0);
