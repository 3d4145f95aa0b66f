import { beforeEach, describe, expect, test } from "@jest/globals";
import type { RunningService, Service } from "@svc/contracts";
import { collectLog, freePort, repositoryPath, spawnChild } from "@svc/testing";
import { loadConfig } from "./load-config.ts";
import type { Resources } from "./open-resources.ts";
import { runServices } from "./run-services.ts";

/** The events so far, in order. */
let events: string[];
let lines: ReturnType<typeof collectLog>["lines"];
let resources: Resources;

const note = (event: string) => {
  events.push(event);
  return Promise.resolve();
};

/** Stands in for the store of processes. */
const processes = {
  beat: () => Promise.resolve([]),
  end: () => Promise.resolve(),
};

function makeResources(env: Record<string, string> = {}): Resources {
  const collected = collectLog();
  lines = collected.lines;
  return {
    config: loadConfig({ DATABASE_URL: "postgres://nobody@127.0.0.1/none", SVC_SECRET_KEY: "x".repeat(32), ...env }),
    log: collected.log,
    // runServices closes the store and the queues, and records that the process runs.
    store: { processes, close: () => note("close store") },
    queues: { backend: "postgres", close: () => note("close queues") },
  } as unknown as Resources;
}

/** A service that records calls, with parts of it replaced. */
function fake(name: string, running: Partial<RunningService> = {}, start?: () => Promise<void>): Service {
  return {
    name,
    async start() {
      await note(`start ${name}`);
      await start?.();
      return {
        stop: () => note(`stop ${name}`),
        drain: () => void events.push(`drain ${name}`),
        ...running,
      };
    },
  };
}

const afterStop = () => note("after stop");
const fail = (text: string) => () => Promise.reject(new Error(text));
const CLOSED = ["close queues", "close store"];

beforeEach(() => {
  events = [];
  resources = makeResources();
});

describe("services that run together", () => {
  test("start one after the other in their order, and stop in the reverse order before what they stand on", async () => {
    const running = await runServices([fake("a"), fake("b"), fake("c")], resources, { afterStop });
    expect(events).toEqual(["start a", "start b", "start c"]);
    await running.stop();
    expect(events.slice(3)).toEqual([
      "drain a",
      "drain b",
      "drain c",
      "stop c",
      "stop b",
      "stop a",
      ...CLOSED,
      "after stop",
    ]);
  });

  test("are all told to drain before the first one stops, also those that have nothing to drain", async () => {
    const bare: Service = { name: "bare", start: () => Promise.resolve({ stop: () => note("stop bare") }) };
    const running = await runServices([fake("a"), bare], resources);
    events = [];
    await running.stop();
    expect(events).toEqual(["drain a", "stop bare", "stop a", ...CLOSED]);
  });

  test("show the addresses of each", async () => {
    const urls = [{ A: "http://127.0.0.1:1" }, { B: "http://127.0.0.1:2" }];
    const running = await runServices(
      [fake("a", { urls: urls[0] ?? {} }), fake("b", { urls: urls[1] ?? {} })],
      resources,
    );
    expect(running.urls).toEqual({ ...urls[0], ...urls[1] });
    await running.stop();
  });

  test("leave no listener on the process", async () => {
    const watched = ["SIGTERM", "SIGINT", "uncaughtException", "unhandledRejection"];
    const count = () => watched.map((name) => process.listenerCount(name));
    const before = count();
    const running = await runServices([fake("a")], resources);
    expect(count()).toEqual(before.map((listeners) => listeners + 1));
    await running.stop();
    expect(count()).toEqual(before);
  });
});

describe("stopping", () => {
  test("twice is stopping once, and both callers wait for its end", async () => {
    const running = await runServices([fake("a")], resources, { afterStop });
    events = [];
    await Promise.all([running.stop(), running.stop()]);
    await running.stop();
    await running.stopped;
    expect(events).toEqual(["drain a", "stop a", ...CLOSED, "after stop"]);
  });

  test("is told to whoever waits for it, and not before its end", async () => {
    const running = await runServices([fake("a")], resources, { afterStop });
    const stopped = running.stopped.then(() => note("told"));
    await running.stop();
    await stopped;
    expect(events.at(-1)).toBe("told");
  });

  test("goes on past services that fail to drain or to stop, and logs each", async () => {
    const services = [
      fake("a"),
      fake("b", { stop: fail("b does not stop") }),
      fake("c", {
        drain: () => {
          throw new Error("c does not drain");
        },
      }),
      fake("d"),
    ];
    const running = await runServices(services, resources, { afterStop });
    events = [];
    await running.stop();
    expect(events).toEqual(["drain a", "drain b", "drain d", "stop d", "stop c", "stop a", ...CLOSED, "after stop"]);
    const texts = lines().flatMap(({ level, error }) => (level === "error" ? [(error as Error).message] : []));
    expect(texts).toEqual(["c does not drain", "b does not stop"]);
  });

  test("ends what the resources stand on even when they do not close", async () => {
    const running = await runServices(
      [fake("a")],
      { ...resources, store: { processes, close: fail("the store does not close") } as unknown as Resources["store"] },
      { afterStop },
    );
    await expect(running.stop()).rejects.toThrow("the store does not close");
    await running.stopped;
    expect(events.at(-1)).toBe("after stop");
  });
});

describe("a service that does not start", () => {
  test("stops those before it, closes everything, and its error is thrown", async () => {
    const services = [fake("a"), fake("b"), fake("c", {}, fail("c is broken")), fake("d")];
    await expect(runServices(services, resources, { afterStop })).rejects.toThrow("c is broken");
    expect(events).toEqual([
      "start a",
      "start b",
      "start c",
      "drain a",
      "drain b",
      "stop b",
      "stop a",
      ...CLOSED,
      "after stop",
    ]);
  });

  test("throws its own error even when another one then fails to stop", async () => {
    const services = [fake("a", { stop: fail("a does not stop") }), fake("b", {}, fail("b is broken"))];
    await expect(runServices(services, resources, { afterStop })).rejects.toThrow("b is broken");
    expect(events.at(-1)).toBe("after stop");
  });
});

describe("the port for health checks", () => {
  test("says that the process lives, and whether each of its services can work", async () => {
    const port = await freePort();
    let error: string | null = null;
    resources = makeResources({ SVC_METRICS_PORT: String(port) });
    const running = await runServices(
      [fake("a"), fake("b", { findProblem: () => Promise.resolve(error) }), fake("c")],
      resources,
    );
    const ask = async (path: string) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`);
      return { status: response.status, body: await response.json() };
    };
    expect(await ask("/healthz")).toEqual({ status: 200, body: { ok: true } });
    expect(await ask("/readyz?x=1")).toEqual({ status: 200, body: { ok: true } });
    error = "the disk is full";
    expect(await ask("/healthz")).toEqual({ status: 200, body: { ok: true } });
    expect(await ask("/readyz")).toEqual({ status: 503, body: { ok: false, detail: error } });
    await running.stop();
    await expect(ask("/healthz")).rejects.toThrow();
  });

  test("that is taken keeps the process from starting, names its setting, and stops the services", async () => {
    const port = await freePort();
    resources = makeResources({ SVC_METRICS_PORT: String(port) });
    const first = await runServices([fake("a")], resources);
    events = [];
    await expect(runServices([fake("b")], resources)).rejects.toThrow(/already in use.*SVC_METRICS_PORT/);
    expect(events).toEqual(["start b", "drain b", "stop b", ...CLOSED]);
    await first.stop();
  });
});

/** Starts a process with fake services, which log to its output; resolves to its exit code. */
async function runProcess(services: string) {
  const child = await spawnChild({
    name: "services",
    command: process.execPath,
    cwd: repositoryPath("packages/runtime"),
    env: {},
    args: [
      "--input-type=module",
      "--eval",
      `import { runServices } from "@svc/runtime";
       import { createLog } from "@svc/log";
       const say = async (text) => console.log(text);
       // Like a server, a fake service keeps the process alive until it is stopped.
       const fake = (name, { start, stop } = {}) => ({ name, async start() {
         const alive = setInterval(() => undefined, 1_000);
         await say("start " + name);
         await start?.();
         return { stop: async () => { clearInterval(alive); await say("stop " + name); await stop?.(); } };
       } });
       const never = () => new Promise(() => setInterval(() => undefined, 1_000));
       const resources = {
         config: { ports: {} }, log: createLog({ level: "error" }),
         store: {
           processes: { beat: async () => [], end: async () => undefined },
           close: () => say("close store"),
         },
         queues: { close: () => say("close queues") },
       };
       await runServices(${services}, resources, { afterStop: () => say("after stop") });
       await say("running");`,
    ],
  });
  return { child, said: () => child.output().trim().split("\n") };
}

describe("a process with services", () => {
  test.each(["SIGTERM", "SIGINT"] as const)("stops them at %s and ends by itself without an error", async (signal) => {
    const { child, said } = await runProcess(`[fake("a"), fake("b")]`);
    await child.ready(/running/);
    expect(await child.kill(signal)).toEqual({ code: 0, signal: null });
    expect(said()).toEqual(["start a", "start b", "running", "stop b", "stop a", ...CLOSED, "after stop"]);
  });

  test("that is stopped while they start, stops what has started and starts no more", async () => {
    const { child, said } = await runProcess(
      `[fake("a"), fake("b", { start: () => new Promise((done) => process.once("SIGTERM", () => setImmediate(done))) }), fake("c")]`,
    );
    await child.ready(/start b/);
    expect(await child.kill()).toEqual({ code: 0, signal: null });
    expect(said().filter((line) => line !== "running")).toEqual([
      "start a",
      "start b",
      "stop b",
      "stop a",
      ...CLOSED,
      "after stop",
    ]);
  });

  test("ends at once by a second signal, however long a service takes", async () => {
    const { child } = await runProcess(`[fake("a", { stop: never })]`);
    await child.ready(/running/);
    const [first] = await Promise.all([child.kill(), child.ready(/stop a/).then(() => child.kill("SIGINT"))]);
    expect(first).toEqual({ code: 1, signal: null });
  });

  test("stops them in the clean way after an unexpected fault, and ends with an error", async () => {
    const { child, said } = await runProcess(
      `[fake("a", { start: () => void setTimeout(() => Promise.reject(new Error("unforeseen")), 50) })]`,
    );
    expect(await child.exited).toEqual({ code: 1, signal: null });
    expect(said().filter((line) => !line.startsWith("{"))).toEqual([
      "start a",
      "running",
      "stop a",
      ...CLOSED,
      "after stop",
    ]);
    expect(child.output()).toContain("unforeseen");
  });
});
