import { describe, expect, test } from "@jest/globals";
import type { ApiState, RunningChannel } from "../api-client.ts";
import { judgeChannel } from "./channels.ts";

const URL = "http://127.0.0.1:31416";
const SINCE = "2026-11-21T10:00:00.000Z";
const noted = { state: "stopped", since: null, error: null } as const;
const api = { id: "api", ...noted } as const;

const ours = (channels: Record<string, RunningChannel> | null, status: "pass" | "fail" = "pass"): ApiState => ({
  kind: "ours",
  status,
  version: "0.1.0",
  details: [],
  models: null,
  channels,
});

describe("the state of a channel", () => {
  test.each(["running", "stopped"] as const)("%s is what the running service reports", (state) => {
    expect(judgeChannel(api, URL, ours({ api: { state, since: SINCE, error: null } }))).toEqual({
      state,
      since: SINCE,
      detail: null,
    });
  });

  test("failing includes the reason", () => {
    const failing = { state: "failing", since: SINCE, error: "the token is wrong" } as const;
    expect(judgeChannel(api, URL, ours({ api: failing }))).toEqual({
      state: "failing",
      since: SINCE,
      detail: "the token is wrong",
    });
  });

  test("is not running if nothing or another program listens", () => {
    expect(judgeChannel(api, URL, { kind: "nothing" })).toEqual({ state: "not_running", since: null, detail: null });
    expect(judgeChannel(api, URL, { kind: "other_program" })).toMatchObject({
      state: "not_running",
      detail: `another program is listening on ${URL}`,
    });
  });

  test.each<[string, ApiState, string]>([
    ["another installation runs there", { kind: "stranger" }, "another installation"],
    ["the product cannot say", ours(null, "fail"), "unhealthy"],
  ])("is unknown when %s", (_, probe, detail) => {
    expect(judgeChannel(api, URL, probe)).toMatchObject({ state: "unknown", detail: expect.stringContaining(detail) });
  });

  test.each<[string, ApiState]>([
    ["there is no key to ask the API with", ours(null)],
    ["nothing listens on this machine", { kind: "nothing" }],
    ["another installation runs there", { kind: "stranger" }],
  ])("is what its process has reported to the database where %s", (_, probe) => {
    const reported = { id: "tool-server", state: "running", since: SINCE, error: null } as const;
    expect(judgeChannel(reported, URL, probe)).toEqual({ state: "running", since: SINCE, detail: null });
  });

  test("is not running if no process has reported it and the API does not run it", () => {
    expect(judgeChannel(api, URL, ours(null))).toEqual({ state: "not_running", since: null, detail: null });
  });

  test("of a channel in another process is what that process has recorded", () => {
    const widget = {
      id: "widget",
      state: "failing",
      since: SINCE,
      error: "the port is taken",
    } as const;
    expect(judgeChannel(widget, URL, ours({ api: { state: "running", since: SINCE, error: null } }))).toEqual({
      state: "failing",
      since: SINCE,
      detail: "the port is taken",
    });
  });
});
