import { expect, test } from "@jest/globals";
import { CHANNELS } from "@svc/contracts";
import type { ReplicaState } from "@svc/store";
import { judgeReplicas } from "./check-pushing-channel.ts";

const CHANNEL = "messenger";
const CLI = { self: "svc", startWith: "npm start" };
const replica = (state: ReplicaState["state"], error: string | null = null): ReplicaState => ({
  id: CHANNEL,
  state,
  since: new Date("2026-01-02T03:04:05.678Z"),
  error,
});

test.each([
  ["no replica says that it runs", [], { status: "warn", detail: "is not running" }],
  ["all replicas have stopped", [replica("stopped")], { status: "warn", detail: "is not running" }],
  ["one replica runs", [replica("running")], { status: "ok", detail: "runs" }],
  [
    "several replicas run",
    [replica("running"), replica("running"), replica("stopped")],
    { status: "ok", detail: "running in 2 replicas, one of which is active" },
  ],
  [
    "one replica fails",
    [replica("running"), replica("failing", "The bot token is refused.")],
    { status: "fail", detail: "The bot token is refused. (since 2026-01-02T03:04:05Z)" },
  ],
])("when %s, the doctor reports a channel that pushes replies accordingly", (_when, replicas, expected) => {
  expect(judgeReplicas(CHANNEL, replicas, CLI)).toMatchObject({ name: CHANNELS[CHANNEL].label, ...expected });
});
