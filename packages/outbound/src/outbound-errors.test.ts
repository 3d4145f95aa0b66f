import { expect, test } from "@jest/globals";
import { excerptOf } from "./outbound-errors.ts";

test.each([
  ["the message of JSON", '{"error":{"message":"no such model"}}', "no such model"],
  ["another answer", "<html>\n <b>busy</b>\r\n", "<html> <b>busy</b>"],
  ["a secret", '{"message":"bad key sk-planted"}', "bad key [key]"],
  ["a long answer", "x".repeat(100_000), "x".repeat(20)],
  ["control characters", "a\u0000\u001b[31mb", "a[31mb"],
  ["somebody else's key", "key sk-LEAK123456789012345", "key [key]"],
  ["a token in a header", "Bearer abc.def.ghi=", "[key]"],
  ["nothing", "", ""],
])("an excerpt of %s is short, harmless and without the secret", (_, answer, expected) => {
  expect(excerptOf(answer, { secret: "sk-planted", maxChars: 20 })).toBe(expected);
});
