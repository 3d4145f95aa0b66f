import { expect, test } from "@jest/globals";
import { createTexts } from "../i18n/create-texts.ts";
import de from "../i18n/de.json" with { type: "json" };
import { describeReason, describeWeakDraft } from "./describe-reason.ts";

const { t } = createTexts("de", de.first);
const nameOf = (actor: string) => (actor === "operator:1" ? "Ann" : actor);

test("reasons of the pipeline, of this and of earlier versions, are shown in the console's language, with the names in them", () => {
  expect(describeReason("confidence 31 % (threshold 50 %)", t, nameOf)).toBe("Konfidenz 31 % (Schwellenwert 50 %).");
  expect(describeReason("only 31 % sure, 50 % are asked for", t, nameOf)).toBe("Konfidenz 31 % (Schwellenwert 50 %).");
  expect(describeReason("assistant is the only enabled agent.", t, nameOf)).toBe(
    "assistant ist der einzige eingeschaltete Agent.",
  );
  expect(describeReason('Quotes "Hours; and more", 74 % sure.', t, nameOf)).toBe(
    "Zitiert „Hours; and more“ (Konfidenz 74 %).",
  );
  for (const text of [
    "The customer gives information and asks no question.",
    "The customer tells something, and asks nothing.",
  ]) {
    expect(describeReason(text, t, nameOf)).toBe("Die Nachricht enthält Angaben, aber keine Frage.");
  }
  expect(describeReason('a (60 %; next b 30 %): the message is most similar to "Hi".', t, nameOf)).toBe(
    "a (60 %; dann b 30 %): Das ähnlichste Beispiel ist „Hi“.",
  );
});

test("an operator is named, and a free assignee stays as it was written", () => {
  for (const text of ["this conversation is assigned to operator:1", "operator:1 has this conversation"]) {
    expect(describeReason(text, t, nameOf)).toBe("Ann ist dieser Unterhaltung zugewiesen.");
  }
  expect(describeReason("80 % sure; Ada L. has this conversation", t, nameOf)).toBe(
    "Konfidenz 80 %. Ada L. ist dieser Unterhaltung zugewiesen.",
  );
});

test("several reasons are told one after the other", () => {
  expect(describeReason("80 % sure; the customer asks for a person", t, nameOf)).toBe(
    "Konfidenz 80 %. Der Kunde möchte mit einem Mitarbeiter sprechen.",
  );
});

test("what is no reason of the pipeline's stays as it is", () => {
  for (const text of ["It was advertising; really.", "", "approved; by me", "x".repeat(600)]) {
    expect(describeReason(text, t, nameOf)).toBe(text);
  }
});

test("a weak draft is explained by what it lacks, else by the place that it quotes", () => {
  const describe = (why: string, place?: string) => describeWeakDraft({ why, place }, t, nameOf);
  const compared = "confidence 41 % (threshold 50 %)";
  const lacks = "Die Passage in „Hours; and more“ erwähnt „Cassandra“, „E12“ nicht.";
  const missing = 'The passage does not mention "Cassandra", "E12".';
  expect(describe(`${compared}; Quotes "Hours; and more", confidence 41 %. ${missing}`, "Hours")).toBe(lacks);
  const goesOn = "The message follows on from an earlier one.";
  expect(describe(`${compared}; Quotes "Hours; and more", confidence 41 %. ${goesOn} ${missing}`, "Hours")).toBe(lacks);
  const other = "The documents are in another language than the question.";
  expect(describe(`${compared}; Quotes "Hours", confidence 41 %. ${other}`, "Hours")).toBe(
    "Dokumente und Frage sind in verschiedenen Sprachen.",
  );
  const place = "Die ähnlichste Passage, in „Hours“, beantwortet die Frage möglicherweise nicht.";
  expect(describe(`${compared}; Quotes "Hours", confidence 41 %.`, "Hours")).toBe(place);
  expect(describe(`${compared}; Quotes "Hours", 41 % sure. The message goes on with an earlier one.`, "Hours")).toBe(
    place,
  );
  expect(describe("only 31 % sure, 50 % are asked for", "Hours")).toBe(place);
  expect(describe("only 31 % sure, 50 % are asked for")).toBe("Keine Passage deckt die Frage gut genug ab.");
  expect(describe("operator:1 has this conversation", "Hours")).toBe("Ann ist dieser Unterhaltung zugewiesen.");
});
