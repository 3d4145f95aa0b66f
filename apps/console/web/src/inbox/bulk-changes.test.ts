import { expect, test } from "@jest/globals";
import { ServiceError } from "@svc/client";
import { runAll } from "./bulk-changes.ts";

test("an error of one item is reported with it and does not stop the others", async () => {
  const heard: number[] = [];
  const items = Array.from({ length: 120 }, (_, index) => index + 1);
  const { done, errors } = await runAll(
    items,
    (item) => (item % 40 === 0 ? Promise.reject(new Error(`no ${item}`)) : Promise.resolve()),
    (over) => heard.push(over),
  );
  expect(done).toHaveLength(117);
  expect(errors.map(({ item }) => item).sort((one, other) => one - other)).toEqual([40, 80, 120]);
  expect(heard).toEqual(items);
});

test("a rate-limited change is retried at the requested time, and fails after several attempts", async () => {
  const pauses: number[] = [];
  const tries = new Map<number, number>();
  const { done, errors } = await runAll(
    [1, 2],
    (item) => {
      const count = (tries.get(item) ?? 0) + 1;
      tries.set(item, count);
      const late = new ServiceError("rate_limited", "Later.", { status: 429, retryAfterSeconds: 3 });
      return item === 2 || count < 3 ? Promise.reject(late) : Promise.resolve();
    },
    () => undefined,
    (ms) => Promise.resolve(void pauses.push(ms)),
  );
  expect(done).toEqual([1]);
  expect(errors).toMatchObject([{ item: 2, error: { code: "rate_limited" } }]);
  expect(pauses).toEqual([3_000, 3_000, 3_000, 3_000, 3_000, 3_000]);
});

test("an empty list finishes immediately", async () => {
  expect(
    await runAll(
      [],
      () => Promise.reject(new Error("never")),
      () => undefined,
    ),
  ).toEqual({ done: [], errors: [] });
});
