// How many callbacks the product makes a second, and how long one takes when nothing else goes on.
import { fileURLToPath } from "node:url";
import { freePort, waitFor } from "@svc/testing";
import {
  Connection,
  countCpu,
  load,
  makeRounds,
  medianRun,
  printFigure,
  rateText,
  summarize,
  timesText,
} from "./measure.ts";
import type { LoadRequest } from "./measure.ts";
import { pause, start, stop, untilIdle, untilQuiet } from "./processes.ts";
import type { Groups } from "./processes.ts";

/** Pause between two messages of the idle measurement, so that everything is idle again. */
const PAUSE_MS = 25;
/** A callback that takes longer is missing. */
const PATIENCE_MS = 15_000;
const POLL_MS = 100;

/** Callbacks of the receiver so far; `lastAt` is the time of the last one. */
interface Count {
  received: number;
  repeated: number;
  lastAt: number;
}
type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/** What is measured: the messages of a request, whose callbacks go to the receiver. */
interface CallbackSubject {
  receiver: Receiver;
  groups: Groups;
  request: LoadRequest & { url: string; path: string; body: string };
}

const now = () => Number(process.hrtime.bigint()) / 1e6;

async function startReceiver() {
  const port = await freePort();
  const program = fileURLToPath(new URL("callback-receiver.js", import.meta.url));
  const child = start([program, String(port)]);
  const url = `http://127.0.0.1:${port}`;
  const count = async () => (await (await fetch(`${url}/count`)).json()) as Count;
  await waitFor(async () => (await count()).received === 0, { what: "the receiver of callbacks" });
  return { child, url, count };
}

/** Waits until `expected` callbacks have arrived, or no more arrive. */
async function untilReceived(receiver: Receiver, expected: number) {
  let latest = await receiver.count();
  let progressAt = performance.now();
  while (latest.received < expected && performance.now() - progressAt < PATIENCE_MS) {
    await pause(POLL_MS);
    const { received } = latest;
    latest = await receiver.count();
    if (latest.received > received) progressAt = performance.now();
  }
  return latest;
}

/** Posts for some seconds and waits for the last callback: the rate covers the whole time. */
async function runBurst({ receiver, groups, request }: CallbackSubject, seconds: number) {
  await untilQuiet();
  const begun = await receiver.count();
  const endCount = countCpu({ ...groups, receiver: receiver.child.pid });
  const startedAt = now();
  const posted = await load(request, seconds);
  const { received, repeated, lastAt } = await untilReceived(receiver, begun.received + posted.requests);
  const count = received - begun.received;
  const counted = endCount(count);
  await untilIdle(groups);
  const bad = { ...posted.bad, missing: posted.requests - count, twice: repeated - begun.repeated };
  return { perSecond: (count * 1_000) / (lastAt - startedAt), accepted: posted.perSecond, ...counted, bad };
}

/**
 * Keeps some messages in flight for some seconds: each is followed by the next one `pauseMs` after its callback. Times
 * are from sending a message until the receiver has its callback.
 */
async function runInFlight(
  { receiver, groups, request }: CallbackSubject,
  seconds: number,
  { inFlight, pauseMs = 0 }: { inFlight: number; pauseMs?: number },
) {
  await untilQuiet();
  const endCount = countCpu({ ...groups, receiver: receiver.child.pid });
  const times: number[] = [];
  let missing = 0;
  const startedAt = now();
  const sendAll = async () => {
    const toProduct = new Connection(request.url);
    const toReceiver = new Connection(receiver.url);
    while (now() < startedAt + seconds * 1_000) {
      const sentAt = now();
      const { body } = await toProduct.send("POST", request.path, request.headers, request.body);
      const { deliveryId } = JSON.parse(body) as { deliveryId: string };
      const { body: answer } = await toReceiver.send("GET", `/callbacks/${deliveryId}`, {});
      const { at } = JSON.parse(answer) as { at: number | null };
      if (at === null) missing++;
      else times.push(at - sentAt);
      if (pauseMs > 0) await pause(pauseMs);
    }
    toProduct.end();
    toReceiver.end();
  };
  await Promise.all(Array.from({ length: inFlight }, sendAll));
  const tookMs = now() - startedAt;
  const counted = endCount(times.length);
  await untilIdle(groups);
  return { ...summarize(times, tookMs, { missing }), ...counted };
}

/**
 * Measures callbacks to a local receiver, each message in its own chat with one callback: with a fixed number in
 * flight, in a burst over `connections`, and one at a time with pauses. Returns the rate of the first, in callbacks per
 * second.
 */
export async function measureCallbacks({
  request,
  groups,
  inFlight,
  connections,
  runs,
  seconds,
  isShort = false,
}: Omit<CallbackSubject, "receiver"> & {
  inFlight: readonly number[];
  connections: number;
  runs: number;
  seconds: number;
  /** True to measure only those with this many in flight. */
  isShort?: boolean;
}) {
  const receiver = await startReceiver();
  try {
    // A backlog may take longer than the default of 30 s; a timeout would add a second callback.
    const fields = { webhookUrl: `${receiver.url}/hook`, timeoutMs: 120_000 };
    const body = JSON.stringify({ ...(JSON.parse(request.body) as object), ...fields });
    const subject = { receiver, groups, request: { ...request, connections, expect: 202, body } };
    const medianOf = async <Run extends Awaited<ReturnType<typeof runBurst | typeof runInFlight>>>(
      run: () => Promise<Run>,
    ) => medianRun((await makeRounds(runs, async () => [await run()])).flat());

    await runInFlight(subject, 1, { inFlight: connections });
    const rates: number[] = [];
    for (const count of inFlight) {
      const steady = await medianOf(() => runInFlight(subject, seconds, { inFlight: count }));
      printFigure(`product, callbacks, ${count} in flight`, `${rateText(steady)}  ${timesText(steady)}`, steady);
      rates.push(steady.perSecond);
    }
    if (isShort) return rates;

    const burst = await medianOf(() => runBurst(subject, seconds));
    const accepted = `accepted at ${burst.accepted.toFixed(0)}/s`;
    printFigure(`product, callbacks, burst over ${connections} connections`, `${rateText(burst)}  ${accepted}`, burst);

    const idle = await runInFlight(subject, runs * seconds, { inFlight: 1, pauseMs: PAUSE_MS });
    printFigure("product, POST to callback, idle", `${idle.requests} messages  ${timesText(idle)}`, idle);
    return rates;
  } finally {
    await stop(receiver.child);
  }
}
