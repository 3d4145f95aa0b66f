import { expect, test } from "@jest/globals";
import en from "../i18n/en.json" with { type: "json" };
import { createTexts } from "../i18n/texts.ts";
import { COLUMNS } from "./columns.ts";

test("a time of less than a second is not written as 0 ms", () => {
  const texts = createTexts("en", en.pages);
  expect([0, 333, 90_000].map((ms) => COLUMNS.firstReply.write(ms, texts))).toEqual(["< 1 sec", "< 1 sec", "2 min"]);
});
