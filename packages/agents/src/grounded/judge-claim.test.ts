import { expect, test } from "@jest/globals";
import { isCourtesy } from "./judge-claim.ts";

test.each([
  "Hello!",
  "Glad to help.",
  "Hello! I'm happy to help.",
  "You're welcome! Is there anything else I can help you with?",
  "Great question! Here's how:",
  "Gern geschehen!",
  "Das tut mir leid.",
  "Bonjour ! Avec plaisir.",
  "Con gusto.",
  "こんにちは！",
])("%p states nothing", (text) => {
  expect(isCourtesy(text)).toBe(true);
});

test.each([
  "Yes, you can.",
  "Hello! Refunds are free.",
  "No.",
  "Your account is closed.",
  "Glad to help with a refund.",
  "",
])("%p states something", (text) => {
  expect(isCourtesy(text)).toBe(false);
});
