import { describe, expect, test } from "@jest/globals";
import { checkProcesses, judgePooler } from "./check-database.ts";

describe("the check of a connection pooler", () => {
  test.each([
    ["session", "session", false, "ok"],
    ["transaction", null, false, "ok"],
    ["transaction", "transaction", true, "warn"],
    ["transaction", "transaction", false, "fail"],
  ] as const)("in %s mode, direct: %s, Redis: %s is %s", (mode, direct, hasRedis, status) => {
    const check = judgePooler(mode, direct, hasRedis);
    expect(check).toMatchObject({ status, detail: expect.stringContaining(`in ${mode} mode`) });
    if (status !== "ok") expect(check.advice).toContain("DATABASE_DIRECT_URL");
  });
});

const gone = {
  app: "api",
  host: "a-host",
  pid: 7,
  startedAt: new Date(0),
  heardAt: new Date(0),
  memoryBytes: 127_000_000,
  memoryLimitBytes: 128_000_000,
};

const run = (apps: [string, number][], vanished: (typeof gone)[]) =>
  checkProcesses(
    { listVanished: () => Promise.resolve(vanished) },
    new Map(apps.map(([app, count]) => [app, { count, elsewhere: 0 }])),
  );

describe("the check of processes", () => {
  test("lists running processes", async () => {
    expect(await run([["api", 2]], [])).toEqual({
      name: "Processes",
      status: "ok",
      detail: "running: api 2",
    });
    expect(await run([], [])).toMatchObject({ status: "ok", detail: "none running" });
  });

  test("warns about processes killed for their memory use, and counts those that it does not list", async () => {
    const { status, detail, advice } = await run([], [gone, gone, gone, gone, gone]);
    expect(status).toBe("warn");
    expect(detail.split("\n")).toEqual([
      "none running",
      ...[1, 2, 3].map(() => expect.stringMatching(/^The api on a-host .*ran out of memory.*127 of 128 MB/)),
      "and 2 more within a day",
    ]);
    expect(advice).toContain("OOMKilled");
  });
});
