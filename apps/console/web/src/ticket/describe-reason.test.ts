import { expect, test } from "@jest/globals";
import { createTexts } from "../i18n/create-texts.ts";
import { de } from "../i18n/de.ts";
import { describeReason } from "./describe-reason.ts";

const { t } = createTexts("de", de);
const nameOf = (actor: string) => (actor === "operator:1" ? "Ann" : actor);

test("reasons of the pipeline are told in the console's language, with the names in them", () => {
  expect(describeReason("only 31 % sure, 50 % are asked for", t, nameOf)).toBe("Nur 31 % sicher, verlangt sind 50 %.");
  expect(describeReason("assistant is the only enabled agent.", t, nameOf)).toBe("assistant ist der einzige Agent.");
  expect(describeReason('Quotes "Hours; and more", 74 % sure.', t, nameOf)).toBe(
    "Zitiert „Hours; and more“, 74 % sicher.",
  );
  expect(describeReason('a (60 %; next b 30 %): the message is most like "Hi".', t, nameOf)).toBe(
    "a (60 %; danach b 30 %): Die Nachricht ähnelt am meisten „Hi“.",
  );
});

test("an operator is named, and a free assignee stays as it was written", () => {
  expect(describeReason("operator:1 has this conversation", t, nameOf)).toBe("Ann hat diese Unterhaltung.");
  expect(describeReason("80 % sure; Ada L. has this conversation", t, nameOf)).toBe(
    "80 % sicher. Ada L. hat diese Unterhaltung.",
  );
});

test("several reasons are told one after the other", () => {
  expect(describeReason("80 % sure; the customer asks for a person", t, nameOf)).toBe(
    "80 % sicher. Der Kunde möchte mit einem Menschen sprechen.",
  );
});

test("what is no reason of the pipeline's stays as it is", () => {
  for (const text of ["It was advertising; really.", "", "approved; by me", "x".repeat(600)]) {
    expect(describeReason(text, t, nameOf)).toBe(text);
  }
});
