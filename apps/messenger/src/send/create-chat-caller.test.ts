import { getEventListeners } from "node:events";
import { expect, test } from "@jest/globals";
import { cutAfterGrace } from "./create-chat-caller.ts";

/** Ends when it is cut, and says so. */
const untilCut = (signal: AbortSignal) =>
  new Promise<string>((resolve) => signal.addEventListener("abort", () => resolve("cut"), { once: true }));

test.each([
  ["that is aborted meanwhile", false],
  ["that was aborted before", true],
])("what is on its way is cut some time after a signal %s", async (_, isBefore) => {
  const [ending, other] = [new AbortController(), new AbortController()];
  if (isBefore) ending.abort();
  const cut = cutAfterGrace([undefined, other.signal, ending.signal], untilCut, 5);
  if (!isBefore) ending.abort();
  await expect(cut).resolves.toBe("cut");
});

test("what arrives in that time arrives, and nothing is left behind", async () => {
  const ending = new AbortController();
  let isCut = false;
  const result = await cutAfterGrace([ending.signal], async (signal) => {
    signal.addEventListener("abort", () => (isCut = true));
    ending.abort();
    return await Promise.resolve("arrived");
  });
  expect([result, isCut]).toEqual(["arrived", false]);
  expect(getEventListeners(ending.signal, "abort")).toEqual([]);
});
