import { afterEach, expect, test } from "@jest/globals";
import { ServiceError } from "@svc/contracts";
import { createLog } from "@svc/log";
import type { LogLevel } from "@svc/log";
import { waitFor } from "@svc/testing";
import type { LogLine } from "@svc/testing";
import { createApp } from "./create-app.ts";
import { listen } from "./listen.ts";
import type { Listening } from "./listen.ts";

let listening: Listening | undefined;

afterEach(async () => {
  await listening?.close(1_000);
  listening = undefined;
});

async function start(level: LogLevel) {
  const lines: LogLine[] = [];
  const log = createLog({ level, destination: { write: (line) => void lines.push(JSON.parse(line) as LogLine) } });
  const app = createApp(log, (routes) => {
    routes.get("/things/:secret", (_request, response) => void response.json({ ok: true }));
    routes.get("/refused", () => {
      throw new ServiceError("not_found", "There is no such thing.");
    });
  });
  listening = await listen(app, { host: "127.0.0.1", port: 0, setting: "SVC_API_PORT" });
  const call = (path: string, id: string) =>
    fetch(`http://127.0.0.1:${listening?.port}${path}`, { headers: { "X-Request-Id": id } });
  const requests = () => lines.filter(({ msg }) => msg === "request");
  return { call, requests };
}

test("each request is found in a debug log by its id, with route and status and not with what its path holds", async () => {
  const { call, requests } = await start("debug");
  await call("/things/hidden-value", "find-me-1");
  await call("/refused", "find-me-2");
  await call("/nothing/hidden-value", "find-me-3");
  await waitFor(() => requests().length === 3, { what: "three lines" });
  expect(requests()).toEqual([
    expect.objectContaining({ requestId: "find-me-1", method: "GET", route: "/things/:secret", status: 200 }),
    expect.objectContaining({ requestId: "find-me-2", route: "/refused", status: 404 }),
    expect.objectContaining({ requestId: "find-me-3", status: 404 }),
  ]);
  expect(JSON.stringify(requests())).not.toContain("hidden-value");
});

test("at other levels requests are not logged", async () => {
  const { call, requests } = await start("info");
  await call("/refused", "find-me");
  expect(requests()).toEqual([]);
});
