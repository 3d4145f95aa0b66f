import { expect, test } from "@jest/globals";
import { batchPublishes } from "./open-queues.ts";

/** Records what was sent; a send fails when the test says so. */
function recorder() {
  const sent: [string, string[]][] = [];
  const state = { error: null as Error | null };
  const publish = batchPublishes<string>((name, jobs) => {
    sent.push([name, jobs]);
    return state.error === null ? Promise.resolve() : Promise.reject(state.error);
  });
  return { sent, state, publish };
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
