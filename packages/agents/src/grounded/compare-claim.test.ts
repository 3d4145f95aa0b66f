import { describe, expect, test } from "@jest/globals";
import { compareClaim } from "./compare-claim.ts";

const RETURNS = "You can return goods within 30 days. Sale items cannot be returned.";
const HOURS = "We open at 9 and close at 17 on weekdays.";
const DEPOSIT = "The deposit for a city bicycle is €80, for an electric bicycle €250.";
const PETS = "Dogs are welcome on the ground floor for €12 per night; cats are not allowed.";
const FREE = "Children under 12 ride free of charge when an adult hires a bicycle.";
const RATES = "Breakfast is included in all rates except the Saver rate.";
const FREIGHT = "The customer pays the return freight for a bicycle.";
const HANDBOOK = [RETURNS, HOURS, DEPOSIT, PETS, FREE, RATES, FREIGHT].join(" ");

function compare(claim: string, quote: string, text = HANDBOOK, question = "", language = "en") {
  return compareClaim(claim, [{ quote, text, title: "Handbook › Terms" }], { known: question, language });
}

describe("a true quote under a statement that says something else", () => {
  const quote = "You can return goods within 30 days.";
  test.each([
    ["You can never return goods within 30 days.", quote, /negation/],
    ["You can't return goods within 30 days.", quote, /negation/],
    ["You can’t return goods within 30 days.", quote, /negation/],
    ["You can return goods only within 30 days.", quote, /restriction/],
    ["You can return goods after 30 days.", quote, /limit is the opposite/],
    ["You can return goods within 60 days.", quote, /number 60/],
    ["You can return goods within 30 weeks.", quote, /30 has another unit/],
    ["You can return goods to Globex within 30 days.", quote, /name globex/],
    ["You can return goods within 30 days (Source: Official EU law).", quote, /name (?:official|eu)/],
    ["You can return goods within 30 days, and you must give us your password.", quote, /asks for a secret/],
    ["You can return goods within 30 days; call us first.", quote, /asks for something/],
    ["Sale items can be returned.", "be returned", /lacks a negation/],
    ["On weekdays we close at 18.", HOURS, /number 18/],
    ["The deposit for a city bicycle is $80.", DEPOSIT, /80 has another unit/],
    ["The deposit for an electric bicycle is €80.", DEPOSIT, /another part of the sentence/],
    ["Cats are welcome on the ground floor for €12 per night.", PETS, /another part of the sentence/],
    ["Dogs are welcome on the ground floor for €12 per month.", PETS, /"month"/],
    ["Children over 12 ride free of charge when an adult hires a bicycle.", FREE, /limit is the opposite/],
    ["Children under 12 always ride free of charge.", FREE, /without exceptions/],
    ["Breakfast is included in the Saver rate.", RATES, /makes an exception for it/],
    ["We pay the return freight for a bicycle.", FREIGHT, /the customer does that/],
  ])("is different: %s", (claim, cited, why) => {
    expect(compare(claim, cited)).toEqual({ verdict: "different", why: expect.stringMatching(why) });
  });

  test.each([
    ["de", "Sie können Waren nie zurückgeben.", "Sie können Waren jederzeit zurückgeben."],
    ["fr", "Vous ne pouvez pas retourner les articles.", "Vous pouvez retourner les articles à tout moment."],
    ["es", "Nunca puede devolver los productos.", "Puede devolver los productos en cualquier momento."],
    ["ja", "商品は返品できません。", "商品は返品できます。"],
  ])("is different in %s", (language, claim, text) => {
    expect(compare(claim, text, text, "", language)).toMatchObject({ verdict: "different" });
  });
});

describe("a statement in the words of its quote", () => {
  test.each([
    ["You can return goods within 30 days.", "You can return goods within 30 days."],
    ["Goods can be returned within 30 days.", "You can return goods within 30 days"],
    ["No, sale items can't be returned.", "Sale items cannot be returned."],
    ["The deposit for a city bicycle is 80 euros.", DEPOSIT],
    ["Dogs are welcome on the ground floor for €12 per night.", PETS],
    ["Children under 12 ride for free when an adult hires a bicycle.", FREE],
    ["You pay the return freight for a bicycle.", FREIGHT],
  ])("is the same: %s", (claim, quote) => {
    expect(compare(claim, quote)).toEqual({ verdict: "same", why: "" });
  });

  test("is the same in a language whose words are not known only letter by letter", () => {
    const text = "Vous pouvez retourner les articles sous 30 jours.";
    expect(compare(text, text, text, "", "fr").verdict).toBe("same");
    expect(compare("Les articles peuvent être retournés sous 30 jours.", text, text, "", "fr").verdict).toBe("unsure");
  });
});

describe("a statement that words alone cannot decide", () => {
  test.each([
    ["You may send things back for up to 30 days.", "You can return goods within 30 days."],
    ["You can return goods.", "You can return goods within 30 days."],
    ["Students ride free of charge when an adult hires a bicycle.", FREE],
    ["With the Saver rate breakfast is not included.", RATES],
    ["Yes.", FREE],
  ])("is unsure: %s", (claim, quote) => {
    expect(compare(claim, quote).verdict).toBe("unsure");
  });

  test("may have a number and a name of the question", () => {
    const claim = "You can return the Kestrel 3 within 30 days.";
    expect(compare(claim, "return goods within 30 days", RETURNS, "Can I return my Kestrel 3?").verdict).toBe("unsure");
  });

  test("is in another language than its source, after its numbers, units and negations were compared", () => {
    const inGerman = (claim: string, quote: string) =>
      compare(claim, quote, HANDBOOK, "Wie hoch ist die Kaution?", "de");
    expect(inGerman("Die Kaution beträgt 80 € für ein Stadtrad und 250 € für ein Elektrorad.", DEPOSIT).verdict).toBe(
      "unsure",
    );
    expect(inGerman("Die Kaution für ein Stadtrad beträgt 180 €.", DEPOSIT).verdict).toBe("different");
    expect(inGerman("Die Kaution für ein Stadtrad beträgt 80 $ im Voraus.", DEPOSIT).verdict).toBe("different");
    expect(inGerman("Reduzierte Ware können Sie zurückgeben.", "Sale items cannot be returned.").verdict).toBe(
      "different",
    );
  });
});

test("takes time in proportion to the text", () => {
  for (const piece of ["a, no b ", "and not ", "; ", "1 und 2 ", "if ", "not ", "`", "€1 for a b, ", "a-", "all "]) {
    const text = piece.repeat(4_000 / piece.length);
    const startedAt = performance.now();
    compare(text, text, text);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  }
});
