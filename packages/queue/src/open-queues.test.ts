import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import type { QueueName } from "@svc/contracts";
import { batchPublishes } from "./open-queues.ts";

/** Records what was sent; a send fails when the test says so. */
function recorder() {
  const sent: [string, string[]][] = [];
  const state = { error: null as Error | null };
  const { publish: publishJobs, flush } = batchPublishes<{ id: string; mayWait?: boolean }>((name, jobs) => {
    sent.push([name, jobs.map(({ id }) => id)]);
    return state.error === null ? Promise.resolve() : Promise.reject(state.error);
  });
  const publish = (name: QueueName, ids: string[], mayWait = false) =>
    publishJobs(
      name,
      ids.map((id) => ({ id, ...(mayWait ? { mayWait } : {}) })),
    );
  return { sent, state, publish, flush };
}

test("what is published in one turn goes out together, each queue by itself, in its order", async () => {
  const { sent, publish } = recorder();
  // Code after a shared commit continues after some promises of its own.
  const afterSome = async (job: string, promises: number) => {
    for (let count = 0; count < promises; count++) await Promise.resolve();
    await publish("replies-api", [job]);
  };
  await Promise.all([
    publish("incoming-messages", ["a"]),
    afterSome("b", 1),
    publish("incoming-messages", ["c", "d"]),
    afterSome("e", 5),
  ]);
  expect(sent).toEqual([
    ["incoming-messages", ["a", "c", "d"]],
    ["replies-api", ["b", "e"]],
  ]);
});

test("what is published later goes out by itself, also while the first call is under way", async () => {
  const { sent, publish } = recorder();
  const first = publish("incoming-messages", ["a"]);
  await new Promise((resolve) => setImmediate(resolve));
  await Promise.all([first, publish("incoming-messages", ["b"])]);
  expect(sent.map(([, jobs]) => jobs)).toEqual([["a"], ["b"]]);
});

test("a call that fails fails for everyone in it, and not for the next", async () => {
  const { state, publish } = recorder();
  state.error = new Error("planted");
  const failing = [publish("incoming-messages", ["a"]), publish("incoming-messages", ["b"])];
  expect((await Promise.allSettled(failing)).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  state.error = null;
  await publish("incoming-messages", ["c"]);
});

describe("what may wait", () => {
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ["nextTick", "setImmediate", "queueMicrotask"] });
  });
  afterEach(() => {
    jest.useRealTimers();
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  test("goes out at once if nothing did shortly before, and otherwise together, a little later", async () => {
    const { sent, publish } = recorder();
    await publish("incoming-messages", ["a"], true);
    const waiting = [publish("incoming-messages", ["b"], true)];
    await turn();
    waiting.push(publish("incoming-messages", ["c"], true));
    jest.advanceTimersByTime(19);
    await turn();
    expect(sent.map(([, jobs]) => jobs)).toEqual([["a"]]);
    jest.advanceTimersByTime(1);
    await Promise.all(waiting);
    jest.advanceTimersByTime(20);
    await publish("incoming-messages", ["d"], true);
    expect(sent.map(([, jobs]) => jobs)).toEqual([["a"], ["b", "c"], ["d"]]);
  });

  test("goes out with a job that may not, and after it", async () => {
    const { sent, publish } = recorder();
    await publish("incoming-messages", ["a"], true);
    await Promise.all([publish("incoming-messages", ["b"], true), publish("incoming-messages", ["c"])]);
    await publish("incoming-messages", ["d"]);
    expect(sent.map(([, jobs]) => jobs)).toEqual([["a"], ["c", "b"], ["d"]]);
  });

  test("goes out when the queues are closed", async () => {
    const { sent, publish, flush } = recorder();
    await publish("incoming-messages", ["a"], true);
    const waiting = publish("incoming-messages", ["b"], true);
    await flush();
    expect(sent.map(([, jobs]) => jobs)).toEqual([["a"], ["b"]]);
    await waiting;
  });
});
