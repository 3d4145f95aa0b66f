import { describe, expect, test } from "@jest/globals";
import { createFetchGuard } from "./fetch-guard.ts";

const CONFIG = {
  databaseUrl: "postgres://svc:secret@127.0.0.1:5433/svc",
  redisUrl: undefined,
  embeddings: undefined,
  models: undefined,
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

  test.each([
    ["http://127.0.0.1:11434/v1", 11434],
    ["https://models.example.com:8443/v1", 8443],
    ["http://localhost/v1", 80],
    ["https://ollama/v1", 443],
  ])("never to the port of the embeddings at %s", (baseUrl, port) => {
    const { checkUrl } = createFetchGuard({
      ...CONFIG,
      embeddings: { baseUrl, model: "m" },
      fetchAllow: ["127.0.0.0/8", "10.0.0.0/8"],
    });
    expect(checkUrl(`http://127.0.0.1:${port}/`).ok).toBe(false);
    expect(checkUrl(`http://10.0.0.1:${port}/`).ok).toBe(false);
    expect(checkUrl(`http://1.1.1.1:${port}/`).ok).toBe(true);
  });

  test("to servers of one's own network, also where the embeddings come from a public one", () => {
    const embeddings = { baseUrl: "https://api.example.com/v1", model: "m" };
    const { checkUrl } = createFetchGuard({ ...CONFIG, embeddings, fetchAllow: ["10.0.0.0/8"] });
    expect(checkUrl("https://10.0.0.1/").ok).toBe(true);
  });
});
