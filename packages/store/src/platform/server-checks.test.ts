import { expect, test } from "@jest/globals";
import { createDiskWatch } from "./server-checks.ts";

const error = (code: string) => Object.assign(new Error("could not extend file"), { code });

test("a full disk is said once a minute, and counts for ten seconds after the last call that failed", () => {
  const clock = { ms: 0 };
  const said: string[] = [];
  const log = { error: (_fields: object, text: string) => void said.push(text) };
  const watch = createDiskWatch({ log, now: () => clock.ms });
  watch.note(error("23505"));
  watch.note("no error at all");
  expect(watch.isFull()).toBe(false);
  for (clock.ms = 1_000; clock.ms < 90_000; clock.ms += 1_000) watch.note(error("53100"));
  expect(said).toHaveLength(2);
  expect(said[0]).toMatch(/disk is full/);
  expect(watch.isFull()).toBe(true);
  clock.ms += 10_000;
  expect(watch.isFull()).toBe(false);
  watch.note(error("58030"));
  expect(watch.isFull()).toBe(true);
});
