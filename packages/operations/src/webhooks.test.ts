import { expect, test } from "@jest/globals";
import { maskUrl } from "./webhooks.ts";

test.each([
  ["https://host.example/in?token=T&a=1&a=2#frag", "https://host.example/in?token=***&a=***#***"],
  ["https://user:secret@host.example:8443/in", "https://***:***@host.example:8443/in"],
  ["https://host.example/in", "https://host.example/in"],
])("%s is shown without values: %s", (url, shown) => {
  expect(maskUrl(url)).toBe(shown);
});
