import { createServer } from "node:net";
import { describe, expect, test } from "@jest/globals";
import { findRedisServer, freePort, startRedis } from "@svc/testing";
import { checkRedis, judgeRedis } from "./check-queues.ts";

const hasRedis = (await findRedisServer()) !== null;
const testRedis = hasRedis ? test : test.skip;

describe("the check of Redis", () => {
  test.each([
    ["7.2.0", "noeviction", "ok"],
    ["6.2.0", "noeviction", "ok"],
    ["6.0.16", "noeviction", "fail"],
    ["7.2.0", "allkeys-lru", "warn"],
  ])("version %s with policy %s: %s", (version, policy, status) => {
    expect(judgeRedis({ version, policy, writes: "fine" }, false).status).toBe(status);
  });

  test("fails where the apps do not start, and where Redis cannot write to its disk", () => {
    const lossy = judgeRedis({ version: "7.2.0", policy: "allkeys-lru", writes: "fine" }, true);
    expect(lossy).toMatchObject({ status: "fail", advice: expect.stringContaining("do not start") });
    const full = judgeRedis({ version: "7.2.0", policy: "noeviction", writes: "failing" }, false);
    expect(full).toMatchObject({ status: "fail", detail: expect.stringContaining("cannot write to disk") });
  });

  testRedis("reads version and policy of a real one", async () => {
    const redis = await startRedis();
    try {
      expect(await checkRedis(redis.url, false)).toMatchObject({
        detail: expect.stringMatching(/^version \d+\.\d+\.\d+, maxmemory-policy [a-z-]+$/),
      });
    } finally {
      await redis.stop();
    }
  });

  test("says what Redis says of a wrong password, and never the password", async () => {
    const server = createServer((socket) => {
      socket.once("data", () =>
        socket.end("-WRONGPASS invalid username-password pair\r\n-NOAUTH Authentication required.\r\n"),
      );
    });
    const port = await freePort();
    await new Promise<void>((resolve) => {
      server.listen(port, "127.0.0.1", resolve);
    });
    try {
      const check = await checkRedis(`redis://worker:hunter2@127.0.0.1:${port}`, false);
      expect(check).toMatchObject({ status: "fail", detail: expect.stringContaining("WRONGPASS") });
      expect(JSON.stringify(check)).not.toContain("hunter2");
    } finally {
      await new Promise((resolve) => {
        server.close(resolve);
      });
    }
  });

  test("says why it cannot be reached, and that nothing is lost", async () => {
    const check = await checkRedis(`redis://127.0.0.1:${await freePort()}`, false);
    expect(check).toMatchObject({ status: "fail", detail: expect.stringContaining("ECONNREFUSED") });
    expect(check.detail).toContain("messages are accepted and processed later");
  });
});
