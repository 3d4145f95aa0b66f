import { describe, expect, test } from "@jest/globals";
import { tokenize } from "@svc/text";
import { foldWords } from "../language-files.ts";
import { KINDS, STRICT_KINDS, containsKind, kindOf, readNaming, readQuestion } from "./read-question.ts";

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
    ["the red light keeps blinking", "keeps"],
    ["the parcel arrived broken, what should I do", "arrived"],
  ])("%s: verbs and adjectives name nothing", (question, word) => {
    expect([...readNaming(question)]).not.toContain(word);
  });
});

const holds = (kind: Parameters<typeof containsKind>[0], text: string, languages: readonly string[]): boolean =>
  containsKind(kind, { text, terms: foldWords(text).split(" "), languages });

describe("the kind of answer that a question asks for", () => {
  test.each([
    ["en", "How much does shipping cost?", "price"],
    ["en", "Is it expensive?", "money"],
    ["en", "How long does it take to arrive?", "duration"],
    ["en", "How wide is the desk?", "number"],
    ["en", "How do I reset my password?", "steps"],
    ["de", "Was kostet der Versand?", "price"],
    ["de", "Bis wann kann ich kündigen?", "time"],
    ["de", "Wie breit ist der Tisch?", "number"],
    ["es", "¿Cuánto tarda el envío?", "duration"],
    ["fr", "À quelle heure ouvrez-vous ?", "time"],
    ["it", "Dove trovo la fattura?", "place"],
    ["nl", "Hoeveel boeken mag ik lenen?", "number"],
    ["pt", "Quem pode aprovar o pedido?", "person"],
    ["pl", "Jak długo trwa dostawa?", "duration"],
    ["ru", "Сколько стоит доставка?", "money"],
    ["uk", "Коли ви відкриваєтесь?", "time"],
    ["tr", "Kargo ne zaman gelir?", "time"],
    ["ar", "كيف ألغي الطلب؟", "steps"],
    ["he", "כמה עולה המשלוח?", "money"],
    ["ja", "送料はいくらですか", "money"],
    ["zh", "多久能送到", "duration"],
    ["en", "phone number of the old town branch pls", "phone"],
    ["en", "How do I change the phone number?", "steps"],
    ["de", "Wie ist Ihre Telefonnummer?", "phone"],
    ["fr", "Quelle est votre adresse mail ?", "email"],
  ])("is recognized in %s: %s", (language, question, kind) => {
    expect(kindOf(question, [language], KINDS)).toBe(kind);
  });

  test("is none where a question asks for nothing of the kind, or is in a language without a list", () => {
    expect(kindOf("Can I take my dog?", ["en"], KINDS)).toBeNull();
    expect(kindOf("I want to change my phone number", ["en"], KINDS)).toBeNull();
    expect(kindOf("How much is it?", ["tlh"], KINDS)).toBeNull();
  });

  test("may be a reason or a difference beside it", () => {
    expect(kindOf("Why does shipping cost that much?", ["en"], STRICT_KINDS)).toBe("reason");
    expect(kindOf("Was ist der Unterschied?", ["de"], STRICT_KINDS)).toBe("difference");
    expect(kindOf("When do you open?", ["en"], STRICT_KINDS)).toBeNull();
  });

  test("is looked for in the languages of the question and of the documents", () => {
    expect(kindOf("Wann öffnen Sie?", ["en", "de"], KINDS)).toBe("time");
  });
});

describe("a text that holds a kind of answer", () => {
  test("is recognized by digits and signs in any language, and by words in its own", () => {
    expect(holds("money", "Доставка 300 ₽.", ["ru"])).toBe(true);
    expect(holds("money", "Returns are free.", ["en"])).toBe(true);
    expect(holds("money", "Returns are easy.", ["en"])).toBe(false);
    expect(holds("duration", "Sie kommt in drei Tagen an.", ["de"])).toBe(true);
    expect(holds("duration", "Sie kommt bald an.", ["de"])).toBe(false);
    expect(holds("duration", "三天内送到", ["zh"])).toBe(true);
    expect(holds("phone", "Call +44 (0)20 555-01.", ["en"])).toBe(true);
    expect(holds("phone", "Call us from 9 to 17.", ["en"])).toBe(false);
    expect(holds("email", "Write to info@shop.example.", ["en"])).toBe(true);
  });
});

describe("a day of the week", () => {
  const daysIn = (text: string, language: string) => {
    const words = tokenize(text).map(({ term }) => ({ word: term, weight: 1 }));
    const { words: read } = readQuestion(text, { hits: [], bestPossible: 1, words, languages: [language] });
    return read.flatMap(({ term, isDay }) => (isDay ? [term] : []));
  };

  test.each([
    ["en", "When do you open on Sunday?", ["sunday"]],
    ["en", "Is the pool open on Easter Sunday?", []],
    ["de", "Wann habt ihr am Samstag offen?", ["samstag"]],
    ["fr", "À quelle heure ouvrez-vous le mercredi ?", ["mercredi"]],
    ["es", "¿Abrís el sábado?", ["sabado"]],
  ])("is known in %s, but not as a part of a name: %s", (language, text, days) => {
    expect(daysIn(text, language)).toEqual(days);
  });
});
