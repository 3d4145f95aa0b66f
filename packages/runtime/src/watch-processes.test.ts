import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import type { ProcessFacts, VanishedProcess } from "@svc/store";
import { collectLog } from "@svc/testing";
import { watchProcesses } from "./watch-processes.ts";

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

/** A store that knows of one process that has vanished, and can be away. */
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
    beat: (facts: ProcessFacts) => answer(() => void rows.set(OWN_ID, facts)),
    end: () => answer(() => void rows.delete(OWN_ID)),
    crash: () => answer(() => void crashes++),
    listSilent: () => answer(() => missing.map(({ pid }) => ({ id: `process ${pid}`, pid }))),
    takeMissing: (ids: readonly string[]) =>
      answer(() => missing.splice(0).filter(({ pid }) => ids.includes(`process ${pid}`))),
    takeVanished: () => answer(() => vanished.splice(0)),
  };
}

describe("processes", () => {
  let processes: ReturnType<typeof fakeProcesses>;
  let log: ReturnType<typeof collectLog>;
  let stop: ReturnType<typeof watchProcesses>;
  const told = () => log.lines().flatMap(({ level, msg }) => (level === "warn" ? [msg] : []));

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
    expect(told()).toEqual([]);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(told()).toEqual([expect.stringContaining("The api on a-host (process 7) last reported at 1970-01-01")]);
  });

  test("are told of by nobody who was cut off from the database just now", async () => {
    await jest.advanceTimersByTimeAsync(20_000);
    processes.setAway(true);
    await jest.advanceTimersByTimeAsync(20_000);
    processes.setAway(false);
    await jest.advanceTimersByTimeAsync(25_000);
    expect(told()).toEqual([]);
    await jest.advanceTimersByTimeAsync(20_000);
    expect(told()).toHaveLength(1);
  });

  test("are recorded as vanished within a beat if their host does not know their id any more", async () => {
    processes.missing.push({ ...GONE, pid: DEAD_PID }, { ...GONE, pid: DEAD_PID + 1 });
    await jest.advanceTimersByTimeAsync(5_000);
    expect(told()).toEqual([expect.stringContaining(`(process ${DEAD_PID})`)]);
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
