import { expect, test } from "@jest/globals";
import { splitAddresses } from "./split-addresses.ts";

test("finds web addresses and nothing else in a text, and leaves out no character", () => {
  const text = "**bold** [x](javascript:alert(3)) <b>\nSee https://a.example/b?c=1, (http://d.example/e).";
  const parts = splitAddresses(text);
  expect(parts.join("")).toBe(text);
  expect(parts.filter((_, index) => index % 2 === 1)).toEqual(["https://a.example/b?c=1", "http://d.example/e"]);
  expect(splitAddresses("javascript:alert(1) data:text/html,x")).toHaveLength(1);
});
