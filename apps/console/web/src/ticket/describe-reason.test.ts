import { expect, test } from "@jest/globals";
import de from "../i18n/de.json" with { type: "json" };
import en from "../i18n/en.json" with { type: "json" };
import { createTexts } from "../i18n/texts.ts";
import type { Texts } from "../i18n/texts.ts";
import { describeReason, describeWeakDraft, shownBelow } from "./describe-reason.ts";
import type { ReasonWords } from "./describe-reason.ts";

const nameOf = (actor: string) => (actor === "operator:1" ? "Ann" : actor);
const wordsOf = ({ t, percent }: Texts): ReasonWords => ({ t, percent, nameOf });
const words = wordsOf(createTexts("de", { ...de.first, ...de.ticket }));
const english = wordsOf(createTexts("en", { ...en.first, ...en.ticket }));

/** Without the non-breaking space that precedes a percent sign in German. */
const describe = (reason: string, language = words) => describeReason(reason, language).replaceAll("\u00a0", " ");

test.each([
  ["confidence 31% (threshold 50%)", "Confidence 31% (threshold 50%).", "Konfidenz 31 % (Schwellenwert 50 %)."],
  ["only 31 % sure, 50 % are asked for", "Confidence 31% (threshold 50%).", "Konfidenz 31 % (Schwellenwert 50 %)."],
  [
    "assistant is the only enabled agent.",
    "assistant is the only agent that is turned on.",
    "assistant ist der einzige eingeschaltete Agent.",
  ],
  [
    'Quotes "Hours; and more", 74 % sure.',
    "Quotes “Hours; and more” (confidence 74%).",
    "Zitiert „Hours; and more“ (Konfidenz 74 %).",
  ],
  [
    "The customer tells something, and asks nothing.",
    "The message gives information and asks no question.",
    "Die Nachricht enthält Angaben, aber keine Frage.",
  ],
  [
    'a (60%), ahead of none of the agents (30%): the closest example is "Hi".',
    "a (60%), ahead of No agent (30%). Closest example: “Hi”",
    "a (60 %), vor Kein Agent (30 %). Ähnlichstes Beispiel: „Hi“",
  ],
  [
    'a (60 %; next b 30 %): the message is most like "Hi".',
    "a (60%), ahead of b (30%). Closest example: “Hi”",
    "a (60 %), vor b (30 %). Ähnlichstes Beispiel: „Hi“",
  ],
  [
    'get_order is waiting for an operator\'s approval. Quotes "Orders", confidence 80%.',
    "get_order is waiting for an operator’s approval. Quotes “Orders” (confidence 80%).",
    "get_order wartet auf die Freigabe durch einen Mitarbeiter. Zitiert „Orders“ (Konfidenz 80 %).",
  ],
  [
    "openai:m chose Billing because the choice was unclear: Shop (45%), ahead of Billing (40%): its knowledge bases cover the message.",
    "openai:m chose Billing because the choice was unclear. Shop (45%), ahead of Billing (40%): its knowledge bases cover the message.",
    "openai:m hat Billing ausgewählt, weil die Zuordnung nicht eindeutig war. Shop (45 %), vor Billing (40 %): Die Wissensdatenbanken decken die Nachricht ab.",
  ],
  [
    "openai:m: according to the model, the passages do not answer the question.",
    "According to openai:m, the passages do not answer the question.",
    "Laut openai:m beantworten die Passagen die Frage nicht.",
  ],
  [
    "a is the only enabled agent. openai:m was asked and returned no usable answer (timeout).",
    "a is the only agent that is turned on. openai:m could not choose an agent (no response in time).",
    "a ist der einzige eingeschaltete Agent. openai:m konnte keinen Agenten auswählen (keine Antwort innerhalb des Zeitlimits).",
  ],
  [
    'No passage matches "a", "b" and 3 more words.',
    "No passage matches “a”, “b” and 3 more.",
    "Keine Passage passt zu „a“, „b“ (+3).",
  ],
])("the pipeline's reason, of this or an earlier version, is shown in the console's language: %s", (reason, en, de) => {
  expect(describe(reason, english)).toBe(en);
  expect(describe(reason)).toBe(de);
});

test.each([
  [
    'confidence 71% (threshold 90%); openai:gpt-4o gave no usable answer (timeout), so the documents are quoted instead. Quotes "Hours", confidence 71%.',
    "Konfidenz 71 % (Schwellenwert 90 %). openai:gpt-4o hat keine brauchbare Antwort gegeben (keine Antwort innerhalb des Zeitlimits); stattdessen werden die Dokumente zitiert. Zitiert „Hours“ (Konfidenz 71 %).",
  ],
  [
    "The message matches no agent. qwen3:8b was asked and gave no usable answer (unreachable).",
    "Die Nachricht passt zu keinem Agenten. qwen3:8b konnte keinen Agenten auswählen (nicht erreichbar).",
  ],
  [
    "qwen3:8b chose Parcels and returns because the choice was unclear: No agent stood out.",
    "qwen3:8b hat Parcels and returns ausgewählt, weil die Zuordnung nicht eindeutig war. Kein Agent passte eindeutig.",
  ],
  [
    'Answered by qwen3:8b from "Hours", "Shipping" and 2 more: 1 of 2 statements are supported, confidence 40%. Not supported: "It takes 14 days." (the number 14 is not in the quoted sentence). The model asks for a person.',
    "qwen3:8b hat aus „Hours“, „Shipping“ (+2) geantwortet: 1 von 2 Aussagen sind belegt (Konfidenz 40 %). Nicht belegt: „It takes 14 days.“ („14“ steht nicht in der Quelle). Das Modell bittet um die Antwort eines Mitarbeiters.",
  ],
  [
    "qwen3:8b asks for a person. The relevant passages were already used in this conversation.",
    "qwen3:8b bittet um die Antwort eines Mitarbeiters. Die passenden Passagen wurden in diesem Ticket bereits verwendet.",
  ],
])("a reason that names a model is shown in the console's language: %s", (reason, de) => {
  expect(describe(reason)).toBe(de);
});

test.each([
  ["it has no citation", "keine Quelle angegeben"],
  ["the email address a@b.example is not in its citations", "„a@b.example“ steht nicht in der Quelle"],
  ["5 has another unit there", "5 hat in der Quelle eine andere Einheit"],
  ['it lacks "online, shop" of the quoted sentence', "„online, shop“ aus der Quelle fehlt"],
  ["it lacks the number 14 of the quoted sentence", "„14“ aus der Quelle fehlt"],
  ["it lacks a negation of the quoted sentence", "Aussage und Quelle unterscheiden sich in einer Verneinung"],
  ['it has the condition "member"', "die Bedingung ist eine andere als in der Quelle"],
  ["it lacks a restriction of the quoted sentence", "die Einschränkung ist eine andere als in der Quelle"],
  ["words of its language cannot be compared", "kann nicht mit der Quelle verglichen werden"],
  ["the customer does that, not the company", "es ist eine andere Person oder Firma, die handelt"],
])("the reason why a statement is unsupported is shown in the console's language: %s", (why, shown) => {
  expect(describe(`Not supported: "It is so." (${why}).`)).toBe(`Nicht belegt: „It is so.“ (${shown}).`);
});

test("an operator is named, and a free-text assignee is unchanged", () => {
  expect(describe("operator:1 has this conversation")).toBe("Ann ist diesem Ticket zugewiesen.");
  expect(describe("80 % sure; Ada L. has this conversation")).toBe(
    "Konfidenz 80 %. Ada L. ist diesem Ticket zugewiesen.",
  );
});

test("several reasons are shown one after the other", () => {
  expect(describe("80 % sure; the customer asks for a person")).toBe(
    "Konfidenz 80 %. Der Kunde möchte mit einem Mitarbeiter sprechen.",
  );
});

test("a confidence below the threshold is not rounded up to it", () => {
  expect(english.percent(shownBelow(0.896, 0.9))).toBe("89%");
  expect(english.percent(shownBelow(0.711, 0.9))).toBe("71%");
});

test("a text that is not a reason of the pipeline is unchanged", () => {
  for (const text of ["It was advertising; really.", "", "approved; by me", "x".repeat(2_100)]) {
    expect(describe(text)).toBe(text);
  }
});

test("a weak draft is explained by what it lacks, otherwise by the quoted document", () => {
  const weak = (why: string, title?: string) => describeWeakDraft({ why, title }, words);
  const compared = "confidence 41 % (threshold 50 %)";
  const lacks = "Die Passage in „Hours; and more“ erwähnt „Cassandra“, „E12“ nicht.";
  const missing = 'The passage does not mention "Cassandra", "E12".';
  expect(weak(`${compared}; Quotes "Hours; and more", confidence 41 %. ${missing}`, "Hours")).toBe(lacks);
  const goesOn = "The message follows on from an earlier one.";
  expect(weak(`${compared}; Quotes "Hours; and more", confidence 41 %. ${goesOn} ${missing}`, "Hours")).toBe(lacks);
  const other = "The documents are in another language than the question.";
  expect(weak(`${compared}; Quotes "Hours", confidence 41 %. ${other}`, "Hours")).toBe(
    "Dokumente und Frage sind in verschiedenen Sprachen.",
  );
  const title = "Die ähnlichste Passage, in „Hours“, beantwortet die Frage möglicherweise nicht.";
  expect(weak(`${compared}; Quotes "Hours", confidence 41 %.`, "Hours")).toBe(title);
  expect(weak(`${compared}; Quotes "Hours", 41 % sure. The message goes on with an earlier one.`, "Hours")).toBe(title);
  expect(weak("only 31 % sure, 50 % are asked for", "Hours")).toBe(title);
  expect(weak("only 31 % sure, 50 % are asked for")).toBe("Keine Passage deckt die Frage gut genug ab.");
  expect(weak("operator:1 has this conversation", "Hours")).toBe("Ann ist diesem Ticket zugewiesen.");
});
