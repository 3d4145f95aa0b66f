import { describe, expect, test } from "@jest/globals";
import { createFetchGuard } from "./fetch-guard.ts";

const CONFIG = {
  databaseUrl: "postgres://svc:secret@127.0.0.1:5433/svc",
  redisUrl: undefined,
  ports: { api: 31416, widget: 31415, tools: 31417, console: 31418, metrics: undefined },
  fetchAllow: [] as string[],
};
const allows = (fetchAllow: string[], url: string) => createFetchGuard({ ...CONFIG, fetchAllow }).checkUrl(url).ok;

describe("fetches go", () => {
  test.each(["https://example.com/", "http://1.1.1.1/"])("to public addresses: %s", (url) => {
    expect(allows([], url)).toBe(true);
  });

  test.each(["http://127.0.0.1:3000/", "http://localhost:3000/", "http://10.2.0.1/", "http://wiki.internal/"])(
    "not to %s, loopback included, unless it is named",
    (url) => {
      expect(allows([], url)).toBe(false);
      expect(allows(["127.0.0.1", "localhost", "10.2.0.0/16", "wiki.internal"], url)).toBe(true);
    },
  );

  test.each([31415, 31416, 31417, 31418, 5433])("never to the own port %i", (port) => {
    expect(allows(["127.0.0.0/8", "localhost"], `http://127.0.0.1:${port}/`)).toBe(false);
    expect(allows(["127.0.0.0/8", "localhost"], `http://localhost:${port}/`)).toBe(false);
  });
});
