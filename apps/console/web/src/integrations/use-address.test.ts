import { describe, expect, test } from "@jest/globals";
import { readAddress } from "./use-address.ts";

describe("the entered URL of a part", () => {
  test.each([
    ["https://chat.example.com/", "https://chat.example.com"],
    [" http://127.0.0.1:31415 ", "http://127.0.0.1:31415"],
    ["https://www.example.com/chat", "https://www.example.com/chat"],
  ])("%s is valid", (text, address) => expect(readAddress(text)).toBe(address));

  test.each([
    "",
    "chat.example.com",
    "javascript:alert(1)",
    "https://",
    "https://a b",
    `https://x'; rm -rf ~`,
    "https://x$(id)",
    'https://x"onload="alert(1)',
    "https://user:password@example.com",
    "https://example.com?key=1",
  ])("%s is invalid", (text) => expect(readAddress(text)).toBeNull());
});
