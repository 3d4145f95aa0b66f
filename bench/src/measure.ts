// Measures subjects in turns and prints a line for each.
import { load } from "./load.ts";
import { cpuOf, cpuOfMachine } from "@svc/testing";
import { untilIdle, untilQuiet } from "./processes.ts";

const NAME_WIDTH = 54;

const median = (values) => [...values].sort((a, b) => a - b)[(values.length - 1) >> 1];

/** A rate with its slowest and fastest run. */
export const rateText = ({ perSecond, min, max }) =>
  `${perSecond.toFixed(0).padStart(6)}/s [${min.toFixed(0)}-${max.toFixed(0)}]`;

/** What a caller waits for, half of the time and in all but one of a hundred cases. */
export const timesText = ({ p50, p99 }) => `p50 ${p50.toFixed(2)} ms  p99 ${p99.toFixed(2)} ms`;

/** Prints a figure, with what `countCpu` found; `bad` holds what should not have happened. */
export function printFigure(name, text, { cpu, others, bad = {} } = {}) {
  const faulty = Object.entries(bad).filter(([, count]) => count > 0);
  const faults = faulty.length === 0 ? "" : ` UNEXPECTED ${JSON.stringify(Object.fromEntries(faulty))}`;
  const costs = cpu === undefined ? "" : `  CPU µs each ${JSON.stringify(cpu)}  others ${Math.round(others * 100)} %`;
  console.log(`${name.padEnd(NAME_WIDTH)} ${text}${costs}${faults}`);
}

/** The run with the median of its rate, with the slowest and fastest rate, and the faults of all runs. */
export function medianRun(all) {
  const sorted = [...all].sort((a, b) => a.perSecond - b.perSecond);
  const run = sorted[(sorted.length - 1) >> 1];
  const bad = {};
  for (const [fault, count] of all.flatMap((one) => Object.entries(one.bad))) bad[fault] = (bad[fault] ?? 0) + count;
  return { ...run, bad, min: sorted[0].perSecond, max: sorted.at(-1).perSecond };
}

/**
 * Counts the CPU of a run: begin it, and end it with the number of its requests. `cpu` is for each request (`load` is
 * the load generator), `others` the share of the machine that processes used which have nothing to do with it (0 where
 * that cannot be told).
 */
export function countCpu(groups) {
  const read = () => {
    const { user, system } = process.cpuUsage();
    return { machine: cpuOfMachine(), groups: { ...cpuOf(groups), load: (user + system) / 1_000 } };
  };
  const before = read();
  return (requests) => {
    const after = read();
    const own = Object.keys(before.groups).map((name) => [name, after.groups[name] - before.groups[name]]);
    const cpu = Object.fromEntries(own.map(([name, ms]) => [name, Math.round((ms * 1_000) / Math.max(1, requests))]));
    if (before.machine === null) return { cpu, others: 0 };
    const busy = after.machine.busy - before.machine.busy - own.reduce((sum, [, ms]) => sum + ms, 0);
    return { cpu, others: Math.max(0, busy / (after.machine.total - before.machine.total)) };
  };
}

async function runOnce({ groups, request, run = load }, seconds) {
  await untilQuiet();
  const endCount = countCpu(groups);
  const result = await run({ ...(typeof request === "function" ? request() : request), seconds });
  const counted = endCount(result.requests);
  await untilIdle(groups);
  return { ...result, ...counted };
}

/** Above this share of the machine used by others a run counts as disturbed. */
const DISTURBED = 0.1;

/**
 * Makes rounds until enough of them were undisturbed, at most twice as many as are wanted, and answers the least
 * disturbed ones. A round answers a list of runs.
 */
export async function makeRounds(wanted, makeRound) {
  const rounds = [];
  const disturbance = (round) => Math.max(...round.map(({ others }) => others));
  const isEnough = () => rounds.filter((round) => disturbance(round) < DISTURBED).length >= wanted;
  while (rounds.length < 2 * wanted && !isEnough()) rounds.push(await makeRound());
  return rounds.sort((a, b) => disturbance(a) - disturbance(b)).slice(0, wanted);
}

/**
 * Measures subjects: after a warm-up, in each round one run of each, so that a neighbour's noise meets all of them
 * alike. The run with the median rate is shown, and how a subject compares with those that its `relativeTo` names:
 * the median of the rounds' ratios, so that a slow minute of the machine falls out. A subject is
 * `{name, request, groups, relativeTo?, run?}`; `request` is what `load` takes, or makes it for each run; `groups` are the
 * processes whose CPU is counted; `run` measures once in the place of `load`.
 */
export async function measure(subjects, { runs, seconds, warmUpSeconds = 1 }) {
  for (const subject of subjects) await runOnce(subject, warmUpSeconds);
  const rounds = await makeRounds(runs, async () => {
    const round = [];
    for (const subject of subjects) round.push(await runOnce(subject, seconds));
    return round;
  });

  for (const [index, subject] of subjects.entries()) {
    const shown = medianRun(rounds.map((round) => round[index]));
    printFigure(subject.name, `${rateText(shown)}  ${timesText(shown)}`, shown);
    for (const relative of subject.relativeTo ?? []) {
      const other = subjects.indexOf(relative);
      const compare = (valueOf) => {
        const ratios = rounds.map((round) => valueOf(round[index]) / valueOf(round[other]));
        const [low, high] = [Math.min(...ratios), Math.max(...ratios)].map((ratio) => ratio.toFixed(2));
        return `${median(ratios).toFixed(2)} [${low}-${high}]`;
      };
      const parts = [
        `rate ${compare(({ perSecond }) => perSecond)}`,
        `p50 ${compare(({ p50 }) => p50)}`,
        `p99 ${compare(({ p99 }) => p99)}`,
        `CPU ${compare(cpuOfServers)}`,
      ];
      printFigure("", `× ${relative.name}: ${parts.join("  ")}`);
    }
  }
}

/** CPU microseconds for each request of all processes but the load generator. */
const cpuOfServers = ({ cpu }) =>
  Object.entries(cpu).reduce((sum, [name, us]) => (name === "load" ? sum : sum + us), 0);
