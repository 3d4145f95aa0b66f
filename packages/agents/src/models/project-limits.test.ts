import { expect, test } from "@jest/globals";
import { asProjectId } from "@svc/store";
import type { ModelAllowance } from "@svc/store";
import { waitFor } from "@svc/testing";
import { createProjectLimits } from "./project-limits.ts";

const PROJECT = asProjectId("00000000-0000-7000-8000-000000000001");

function keep(allowance: Partial<ModelAllowance>) {
  const found = { concurrency: 1, tokensPerDay: null, tokensToday: 0, ...allowance };
  return createProjectLimits({ modelCalls: { findAllowance: () => Promise.resolve(found) } }, { turnMs: 60_000 });
}

const call = (tokens = 10, signal = new AbortController().signal) => ({ signal, tokens });
const done = () => Promise.resolve("done");

/** Work that goes on until it is let go. */
function startWork() {
  let letGo: () => void = () => undefined;
  let hasBegun = false;
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const work = async () => {
    hasBegun = true;
    await held;
    return "done";
  };
  return { work, letGo, begun: () => waitFor(() => hasBegun, { what: "the work to begin" }) };
}

test("whoever is given up while waiting leaves the line, and the next one has the turn", async () => {
  const limits = keep({});
  const { work, letGo, begun } = startWork();
  const first = limits.run(PROJECT, call(), work);
  await begun();
  const aborting = new AbortController();
  const second = limits.run(PROJECT, call(10, aborting.signal), done);
  const third = limits.run(PROJECT, call(), done);
  aborting.abort(new Error("not wanted any more"));
  await expect(second).rejects.toThrow("not wanted any more");
  letGo();
  expect(await Promise.all([first, third])).toEqual(["done", "done"]);
});

test("whoever has waited while others used the tokens up is told so when it is its turn", async () => {
  const limits = keep({ tokensPerDay: 100 });
  const { work, letGo, begun } = startWork();
  const first = limits.run(PROJECT, call(), work);
  await begun();
  const second = limits.run(PROJECT, call(), done).catch((error: unknown) => error);
  // By then it waits for its turn.
  await new Promise((resolve) => setImmediate(resolve));
  limits.use(PROJECT, 100);
  letGo();
  expect(await first).toBe("done");
  expect(await second).toMatchObject({ fault: "over_budget" });
});

test("tokens that are held are given back, whatever becomes of the work", async () => {
  const limits = keep({ concurrency: null, tokensPerDay: 100 });
  const { work, letGo, begun } = startWork();
  const first = limits.run(PROJECT, call(500), work);
  await begun();
  await expect(limits.run(PROJECT, call(), done)).rejects.toMatchObject({ fault: "over_budget" });
  letGo();
  await first;
  await expect(limits.run(PROJECT, call(500), () => Promise.reject(new Error("failed")))).rejects.toThrow("failed");
  expect(await limits.run(PROJECT, call(), done)).toBe("done");
});

test("a project that is gone has no limits: its work ends otherwise", async () => {
  const limits = createProjectLimits({ modelCalls: { findAllowance: () => Promise.resolve(null) } }, { turnMs: 1 });
  expect(await limits.run(PROJECT, call(), done)).toBe("done");
});
