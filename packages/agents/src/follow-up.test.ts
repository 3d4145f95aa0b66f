import { describe, expect, test } from "@jest/globals";
import type { HistoryMessage } from "./answer.ts";
import { readFollowUp } from "./follow-up.ts";

const said = (...texts: string[]): HistoryMessage[] => texts.map((text) => ({ author: "customer", text }));

describe("readFollowUp", () => {
  test.each([
    ["How do I install it for Mac?", "and for Windows?", "How do I install it for Windows?"],
    ["How much is the Basic plan?", "what about the Pro plan?", "How much is the Pro plan?"],
    ["Wie installiere ich das unter Windows?", "und unter Linux?", "Wie installiere ich das unter Linux?"],
    ["How do I change my password?", "And my name?", "How do I change my name?"],
  ])("after %j, %j asks %j", (before, text, query) => {
    expect(readFollowUp(text, said(before))?.query).toBe(query);
  });

  test.each([
    ["How do I export invoices?", "how much is it?", "how much is it?\nexport invoices"],
    ["How do I export invoices?", "why?", "why?\nexport invoices"],
    ["How do I export invoices?", "can you give an example?", "can you give an example?\nexport invoices"],
    ["When is the yoga course?", "how many lessons?", "how many lessons?\nyoga course"],
    ["When is the yoga course?", "what age?", "what age?\nyoga course"],
    ["Wann ist der Yogakurs?", "Wie viele Stunden?", "Wie viele Stunden?\nyogakurs"],
    ["Wie exportiere ich Rechnungen?", "Was kostet es?", "Was kostet es?\nexportiere rechnungen"],
  ])("after %j, %j takes its topic with it", (before, text, query) => {
    expect(readFollowUp(text, said(before))?.query).toBe(query);
  });

  test.each([
    "How do I reset my password?",
    "Is it possible to pay by card?",
    "And how do I move all invoices of last year to another account before it is closed for good?",
    "Gibt es eine App?",
    "How many users can export?",
    "What is a voucher?",
    "ok",
    "yes",
    "thanks!",
    "?!",
    "",
    "and ".repeat(20_000),
  ])("%# stands for itself, or says nothing", (text) => {
    expect(readFollowUp(text, said("How do I export invoices?"))).toBeNull();
  });

  test("there is nothing to go on with before the first question, and small talk is none", () => {
    expect(readFollowUp("and for Windows?", [])).toBeNull();
    expect(readFollowUp("and for Windows?", said("hello"))).toBeNull();
    expect(readFollowUp("and for Windows?", [{ author: "agent", text: "Welcome for Mac!" }])).toBeNull();
  });

  test("what was asked longest ago is forgotten, however much was said", () => {
    const history = said("How do I remove it for Mac?", ...Array.from({ length: 500 }, () => "x".repeat(10_000)));
    expect(readFollowUp("and for Windows?", history)?.query).not.toContain("remove");
  });
});
