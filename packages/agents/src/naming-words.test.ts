import { describe, expect, test } from "@jest/globals";
import { readNaming } from "./naming-words.ts";

describe("readNaming", () => {
  test.each([
    ["How much does the coffee grinder cost?", ["coffee", "grinder"]],
    ["Wie viel kostet die Kaffeemühle?", ["kaffeemühle"]],
    ["Wie viel kostet die kaffeemühle", ["kaffeemühle"]],
    ["What is your return policy?", ["return", "policy"]],
    ["How much is the shipping to France?", ["shipping", "france"]],
    ["Do you sell bicycles?", ["bicycles"]],
    ["What does K-1050 cost?", ["k1050"]],
    ["toaster price", ["toaster", "price"]],
  ])("%s names what it asks about", (question, words) => {
    const named = readNaming(question);
    expect(words.filter((word) => !named.has(word))).toEqual([]);
  });

  test.each([
    ["Do you grant a warranty?", "grant"],
    ["Gewährt ihr Garantie?", "gewährt"],
    ["How long does the warranty last?", "last"],
    ["Wie lange kann ich die Ware umtauschen?", "umtauschen"],
    ["Is the estimate refundable?", "refundable"],
    ["How expensive is the course?", "expensive"],
  ])("%s: verbs and adjectives name nothing", (question, word) => {
    expect([...readNaming(question)]).not.toContain(word);
  });
});
