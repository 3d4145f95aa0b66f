import { getEventListeners } from "node:events";
import { expect, test } from "@jest/globals";
import { abortAfterGrace } from "./create-chat-caller.ts";

/** Resolves with "cut" when its signal is aborted. */
const untilAbort = (signal: AbortSignal) =>
  new Promise<string>((resolve) => signal.addEventListener("abort", () => resolve("cut"), { once: true }));

test.each([
  ["that is aborted meanwhile", false],
  ["that was aborted before", true],
])("what is on its way is cut some time after a signal %s", async (_, isBefore) => {
  const [ending, other] = [new AbortController(), new AbortController()];
  if (isBefore) ending.abort();
  const cut = abortAfterGrace([undefined, other.signal, ending.signal], untilAbort, 5);
  if (!isBefore) ending.abort();
  await expect(cut).resolves.toBe("cut");
});

test("completes calls that finish within that time, and leaves no timer or listener", async () => {
  const ending = new AbortController();
  let isCut = false;
  const result = await abortAfterGrace([ending.signal], async (signal) => {
    signal.addEventListener("abort", () => (isCut = true));
    ending.abort();
    return await Promise.resolve("arrived");
  });
  expect([result, isCut]).toEqual(["arrived", false]);
  expect(getEventListeners(ending.signal, "abort")).toEqual([]);
});
