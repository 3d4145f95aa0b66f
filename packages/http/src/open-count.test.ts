import { expect, test } from "@jest/globals";
import { createOpenCount } from "./open-count.ts";

test("opens up to the limit of a name, and again once one is closed", () => {
  const { open } = createOpenCount();
  const first = open("one", 2);
  expect(open("one", 2)).not.toBeNull();
  expect(open("one", 2)).toBeNull();
  expect(open("other", 2)).not.toBeNull();
  first?.();
  first?.();
  expect(open("one", 2)).not.toBeNull();
  expect(open("one", 2)).toBeNull();
});
