import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { Queues } from "@svc/queue";
import { waitFor } from "@svc/testing";
import { openTestQueues } from "./open-test-queues.ts";
import type { TestQueues } from "./open-test-queues.ts";

let servers: TestQueues;
let here: Queues;
let there: Queues;

/** Collects the wake-ups on a topic. */
function listenTo(queues: Queues, topic: string) {
  const heard = new Set<string>();
  const silence = queues.wakeUps.listen(topic, (ids) => {
    for (const id of ids) heard.add(id);
  });
  return { heard, silence };
}

/** Sends repeatedly until it is received, because a wake-up may be lost while the listener connects. */
async function sendUntilHeard(topic: string, id: string, listeners: Set<string>[]): Promise<void> {
  await waitFor(
    () => {
      here.wakeUps.send(topic, [id]);
      return listeners.every((heard) => heard.has(id));
    },
    { what: `everyone to hear ${id}` },
  );
}

beforeAll(async () => {
  servers = await openTestQueues();
  here = servers.open();
  there = servers.open();
});

afterAll(async () => {
  await servers.close();
});

test("a wake-up reaches every process that listens on its topic, the sender too", async () => {
  const ours = listenTo(here, "replies");
  const theirs = listenTo(there, "replies");
  await sendUntilHeard("replies", "ticket-1", [ours.heard, theirs.heard]);
});

test("wake-ups reach neither another topic, nor another installation, nor a stopped listener", async () => {
  const ours = listenTo(here, "replies");
  const otherTopic = listenTo(there, "settings");
  const strangers = listenTo(servers.open("svc-test-strangers"), "replies");
  const gone = listenTo(here, "replies");
  gone.silence();
  await sendUntilHeard("replies", "ticket-2", [ours.heard]);
  // The topic works, so the earlier silence was not due to a missing connection.
  await sendUntilHeard("settings", "changed", [otherTopic.heard]);
  expect([...otherTopic.heard]).toEqual(["changed"]);
  expect([...strangers.heard, ...gone.heard]).toEqual([]);
});

test("a thousand concurrent wake-ups all arrive", async () => {
  const theirs = listenTo(there, "many");
  await sendUntilHeard("many", "first", [theirs.heard]);
  const ids = Array.from({ length: 1_000 }, (_, index) => `018f3a1c-0000-7000-8000-${String(index).padStart(12, "0")}`);
  here.wakeUps.send("many", ids);
  await waitFor(() => ids.every((id) => theirs.heard.has(id)), { what: "all wake-ups" });
});
