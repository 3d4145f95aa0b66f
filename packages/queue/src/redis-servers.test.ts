import { describe, expect, test } from "@jest/globals";
import { parseRedisUrl } from "./redis-servers.ts";

describe("a URL of Redis", () => {
  test.each([
    ["redis://cache", { kind: "single", addresses: [{ host: "cache", port: 6379 }], group: "", db: 0 }],
    [
      "rediss://user:p%40ss:word@[::1]:6380/2",
      {
        kind: "single",
        addresses: [{ host: "::1", port: 6380 }],
        group: "",
        db: 2,
        username: "user",
        password: "p@ss:word",
        tls: {},
      },
    ],
    [
      "redis+sentinel://:secret@one,two:26380/main/3?sentinelPassword=other",
      {
        kind: "sentinel",
        addresses: [
          { host: "one", port: 26_379 },
          { host: "two", port: 26_380 },
        ],
        group: "main",
        db: 3,
        password: "secret",
        sentinelPassword: "other",
      },
    ],
    [
      "rediss+cluster://one:7000,two",
      {
        kind: "cluster",
        addresses: [
          { host: "one", port: 7000 },
          { host: "two", port: 6379 },
        ],
        group: "",
        db: 0,
        tls: {},
      },
    ],
  ])("%s names its servers", (url, servers) => {
    expect(parseRedisUrl(url)).toEqual(servers);
  });

  test.each([
    "http://cache",
    "redis://",
    "redis://one,two",
    "redis://cache:port",
    "redis://cache/main",
    "redis://%ff:x@cache",
    "redis+sentinel://one,two",
    "redis+cluster://one/1",
  ])("%s is rejected with the forms that there are", (url) => {
    expect(() => parseRedisUrl(url)).toThrow(/^a URL such as redis:/);
  });

  test("whose file of certificates cannot be read is rejected, and the reason is named", () => {
    expect(() => parseRedisUrl("rediss://cache?cacert=/nowhere/ca.pem")).toThrow(/cacert.*ENOENT/);
  });
});
