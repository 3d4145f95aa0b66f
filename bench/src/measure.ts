// Measures subjects in turns and prints a line for each.

import net from "node:net";
import { cpuOf, cpuOfMachine } from "@svc/testing";
import { untilIdle, untilQuiet } from "./processes.ts";
import type { Groups } from "./processes.ts";

// A load generator that costs little CPU: raw keep-alive connections, one request at a time on each.

/** Returns the body that begins at `start` and the offset after it; null if it is incomplete. */
function readBody(buffer: Buffer, head: string, start: number): { body: string; end: number } | null {
  if (!/transfer-encoding: chunked/i.test(head)) {
    const end = start + Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    return buffer.length < end ? null : { body: buffer.toString("utf8", start, end), end };
  }
  const parts: Buffer[] = [];
  for (let at = start; ;) {
    const lineEnd = buffer.indexOf("\r\n", at);
    if (lineEnd < 0) return null;
    const length = Number.parseInt(buffer.toString("latin1", at, lineEnd), 16);
    const end = lineEnd + 2 + length + 2;
    if (buffer.length < end) return null;
    if (length === 0) return { body: Buffer.concat(parts).toString(), end };
    parts.push(buffer.subarray(lineEnd + 2, end - 2));
    at = end;
  }
}

interface Response {
  status: number;
  body: string;
}

/** One keep-alive connection to the server of a URL. */
export class Connection {
  readonly #waiting: { resolve: (response: Response) => void; reject: (error: Error) => void }[] = [];
  #buffer: Buffer = Buffer.alloc(0);
  readonly #host: string;
  readonly #socket: net.Socket;

  constructor(url: string) {
    const { hostname: host, port } = new URL(url);
    // A tool server answers only requests with its own name.
    this.#host = `${host}:${port}`;
    this.#socket = net.connect({ host, port: Number(port), noDelay: true });
    this.#socket.on("data", (part: Buffer) => {
      this.#buffer = this.#buffer.length === 0 ? part : Buffer.concat([this.#buffer, part]);
      this.#read();
    });
    const fail = (error?: Error) => {
      for (const { reject } of this.#waiting.splice(0)) reject(error ?? new Error("the connection was closed"));
    };
    this.#socket.on("error", fail);
    this.#socket.on("close", () => fail());
  }

  #read() {
    for (;;) {
      const end = this.#buffer.indexOf("\r\n\r\n");
      if (end < 0) return;
      const head = this.#buffer.toString("latin1", 0, end);
      const read = readBody(this.#buffer, head, end + 4);
      if (read === null) return;
      this.#buffer = this.#buffer.subarray(read.end);
      this.#waiting.shift()?.resolve({ status: Number(head.slice(9, 12)), body: read.body });
    }
  }

  // oxlint-disable-next-line max-params -- Called for each request of a load: an additional object would cost time.
  send(method: string, path: string, headers: Record<string, string>, body = ""): Promise<Response> {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const length = body === "" ? "" : `content-length: ${Buffer.byteLength(body)}\r\n`;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#socket.write(`${method} ${path} HTTP/1.1\r\nhost: ${this.#host}\r\n${lines.join("")}${length}\r\n${body}`);
    });
  }

  /** True once the server has closed it, for example because it was idle for too long. */
  get isClosed() {
    return this.#socket.destroyed || this.#socket.readableEnded;
  }

  end() {
    this.#socket.destroy();
  }
}

/** The value below which a share of the sorted values lies. */
export const percentile = (sorted: Float64Array, share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;

/** What is sent over each connection; `path` and `body` may be made for each request. */
export interface LoadRequest {
  url?: string;
  /** Instead of `url`: the connections are spread over these. */
  urls?: readonly string[];
  /** A function gets the number of its connection. */
  path: string | ((connection: number) => string);
  method?: string;
  headers: Record<string, string>;
  body: string | (() => string);
  connections: number;
  expect?: number;
}

/** Result of a load: times in milliseconds, and the number of unexpected events. */
export interface Load {
  requests: number;
  perSecond: number;
  p50: number;
  p99: number;
  bad: Record<string, number>;
}

/** Summarizes the times of requests that took this many milliseconds in total. */
export function summarize(times: readonly number[], tookMs: number, bad: Record<string, number>): Load {
  const sorted = Float64Array.from(times).sort();
  return {
    requests: times.length,
    perSecond: (times.length * 1_000) / tookMs,
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
    bad,
  };
}

/** Sends requests for some seconds, on each connection one after the other. */
export async function load(request: LoadRequest, seconds: number): Promise<Load> {
  const { url = "", urls = [url], path, method = "POST", headers, body, connections, expect = 200 } = request;
  const all = Array.from({ length: connections }, (_, number) => new Connection(urls[number % urls.length] ?? url));
  const times: number[] = [];
  const bad: Record<string, number> = {};
  const startedAt = performance.now();
  const until = startedAt + seconds * 1_000;
  await Promise.all(
    all.map(async (connection, number) => {
      while (performance.now() < until) {
        const sentAt = performance.now();
        const ownPath = typeof path === "string" ? path : path(number);
        const { status } = await connection.send(method, ownPath, headers, typeof body === "string" ? body : body());
        times.push(performance.now() - sentAt);
        if (status !== expect) bad[status] = (bad[status] ?? 0) + 1;
      }
    }),
  );
  const tookMs = performance.now() - startedAt;
  for (const connection of all) connection.end();
  return summarize(times, tookMs, bad);
}

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
interface Comparison {
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
