import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import type { ProcessFacts, VanishedProcess } from "@svc/store";
import { collectLog } from "@svc/testing";
import {
  describeVanished,
  findMemoryProblem,
  parseOwnMemory,
  readOwnMemory,
  watchProcesses,
} from "./watch-processes.ts";

const GONE: VanishedProcess = {
  app: "api",
  host: "a-host",
  pid: 7,
  startedAt: new Date(0),
  heardAt: new Date(0),
  memoryBytes: 1_000_000,
  memoryLimitBytes: null,
};

const OWN_ID = "own";
const DEAD_PID = 8;

/** A store that reports one vanished process, and can be made unavailable. */
function fakeProcesses() {
  const rows = new Map<string, ProcessFacts>();
  const vanished = [GONE];
  let crashes = 0;
  const missing: VanishedProcess[] = [];
  let isAway = false;
  const answer = <Value>(give: () => Value): Promise<Value> =>
    isAway ? Promise.reject(new Error("the database is away")) : Promise.resolve(give());
  return {
    rows,
    setAway: (is: boolean) => {
      isAway = is;
    },
    missing,
    countCrashes: () => crashes,
    beat: (facts: ProcessFacts) =>
      answer(() => {
        rows.set(OWN_ID, facts);
        const here = missing.map(({ pid }) => ({ id: `process ${pid}`, pid, host: facts.host, hasVanished: false }));
        const elsewhere = vanished.map(({ pid, host }) => ({ id: `process ${pid}`, pid, host, hasVanished: true }));
        return [...here, ...elsewhere];
      }),
    end: () => answer(() => void rows.delete(OWN_ID)),
    crash: () => answer(() => void crashes++),
    recordVanished: (ids: readonly string[]) =>
      answer(() => missing.splice(0).filter(({ pid }) => ids.includes(`process ${pid}`))),
    claimVanished: () => answer(() => vanished.splice(0)),
  };
}

describe("processes", () => {
  let processes: ReturnType<typeof fakeProcesses>;
  let log: ReturnType<typeof collectLog>;
  let stop: ReturnType<typeof watchProcesses>;
  const warnings = () => log.lines().flatMap(({ level, msg }) => (level === "warn" ? [msg] : []));

  beforeEach(() => {
    jest.useFakeTimers();
    processes = fakeProcesses();
    log = collectLog();
    stop = watchProcesses("api", processes, log.log, (pid) => pid !== DEAD_PID);
  });

  afterEach(async () => {
    await stop();
    jest.useRealTimers();
  });

  test("that have vanished are told of once, by one that has known for half a minute that the database hears it", async () => {
    await jest.advanceTimersByTimeAsync(25_000);
    expect(warnings()).toEqual([]);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(warnings()).toEqual([expect.stringContaining("The api on a-host (process 7) last reported at 1970-01-01")]);
  });

  test("are told of by nobody who was cut off from the database just now", async () => {
    await jest.advanceTimersByTimeAsync(20_000);
    processes.setAway(true);
    await jest.advanceTimersByTimeAsync(20_000);
    processes.setAway(false);
    await jest.advanceTimersByTimeAsync(25_000);
    expect(warnings()).toEqual([]);
    await jest.advanceTimersByTimeAsync(20_000);
    expect(warnings()).toHaveLength(1);
  });

  test("are recorded as vanished within a beat if their host does not know their id any more", async () => {
    processes.missing.push({ ...GONE, pid: DEAD_PID }, { ...GONE, pid: DEAD_PID + 1 });
    await jest.advanceTimersByTimeAsync(5_000);
    expect(warnings()).toEqual([expect.stringContaining(`(process ${DEAD_PID})`)]);
  });

  test("are known while they run, and not any more once they stop", async () => {
    await jest.advanceTimersByTimeAsync(0);
    expect([...processes.rows.values()]).toEqual([expect.objectContaining({ app: "api", pid: process.pid })]);
    await stop();
    expect(processes.rows.size).toBe(0);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(processes.rows.size).toBe(0);
  });

  test("that have crashed stay, to be told of as vanished, and are not heard of again", async () => {
    await jest.advanceTimersByTimeAsync(0);
    await stop({ hasCrashed: true });
    expect([processes.rows.size, processes.countCrashes()]).toEqual([1, 1]);
    processes.rows.clear();
    await jest.advanceTimersByTimeAsync(60_000);
    expect(processes.rows.size).toBe(0);
  });
});

const MB = 1_000_000;

describe("the memory of a process", () => {
  test("is warned of when it nears the limit of its container", () => {
    expect(findMemoryProblem(900 * MB, 1_000 * MB)).toMatch(/uses 900 of 1000 MB.*exit code 137/);
  });

  test.each([
    ["far below it", 500 * MB, 1_000 * MB],
    ["without one", 900 * MB, 0],
    ["with one that no machine has", 900 * MB, 2 ** 63],
  ])("is nothing to tell %s", (_what, used, limit) => {
    expect(findMemoryProblem(used, limit)).toBeNull();
  });

  test("is what the system cannot take back: not the files that a process has mapped", () => {
    const status = "Name:\tnode\nVmRSS:\t  189320 kB\nRssAnon:\t  132712 kB\nRssFile:\t   56608 kB\n";
    expect(parseOwnMemory(status)).toBe(132_712 * 1_024);
    expect(parseOwnMemory("Name:\tnode\nVmRSS:\t  189320 kB\n")).toBeNull();
    expect(readOwnMemory()).toBeGreaterThan(10 * MB);
  });
});

const gone = {
  app: "api",
  host: "3f2a",
  pid: 7,
  startedAt: new Date("2026-01-02T03:00:00Z"),
  heardAt: new Date("2026-01-02T03:04:05Z"),
  memoryBytes: 100 * MB,
  memoryLimitBytes: 1_000 * MB,
};

describe("a process that has vanished without a stop", () => {
  test("is said to have been killed, to have crashed or to be cut off, with what it used", () => {
    expect(describeVanished(gone)).toBe(
      "The api on 3f2a (process 7) last reported at 2026-01-02T03:04:05.000Z and did not shut down cleanly: it was killed (by kill -9, or because of its memory usage), crashed, or cannot reach the database. It used 100 of 1000 MB.",
    );
  });

  test("near its limit is said to have been killed for its memory, and what to do", () => {
    expect(describeVanished({ ...gone, memoryBytes: 900 * MB })).toMatch(
      /it probably ran out of memory and was killed\. It used 900 of 1000 MB.*SVC_MEMORY_LIMIT/,
    );
  });

  test("without a limit is said with what it used alone", () => {
    expect(describeVanished({ ...gone, memoryLimitBytes: null })).toMatch(/It used 100 MB\.$/);
  });
});
