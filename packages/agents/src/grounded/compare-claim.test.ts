import { describe, expect, test } from "@jest/globals";
import { compareClaim } from "./compare-claim.ts";

const RETURNS = "You can return goods within 30 days. Sale items cannot be returned.";
const HOURS = "We open at 9 and close at 17 on weekdays.";

function differenceOf(claim: string, quote: string, text = `${RETURNS} ${HOURS}`, question = "", language = "en") {
  return compareClaim(claim, [{ quote, text, title: "Handbook" }], { known: question, language });
}

describe("a true quote under a statement that says something else", () => {
  const quote = "You can return goods within 30 days.";
  test.each([
    ["You can never return goods within 30 days.", /negation/],
    ["You can't return goods within 30 days.", /negation/],
    ["You can’t return goods within 30 days.", /negation/],
    ["You can return goods only within 30 days.", /restriction/],
    ["You can return goods within 30 days unless they are on sale.", /restriction/],
    ["You can return goods within 60 days.", /number 60/],
    ["You can return goods.", /lacks the number 30/],
    ["You can return goods to Globex within 30 days.", /name Globex/],
    ["You can return goods within 30 days (Source: Official EU law).", /name Official|name EU/],
  ])("is found in: %s", (claim, difference) => {
    expect(differenceOf(claim, quote)).toMatch(difference);
  });

  test("is found where the quote leaves out the word that denies it", () => {
    expect(differenceOf("Sale items can be returned.", "be returned")).toMatch(/lacks a negation/);
  });

  test("is found where the quote has a name that the statement drops", () => {
    const text = "Only Maria Keller and her team can approve refunds.";
    expect(differenceOf("Only our team can approve refunds.", text, text)).toMatch(/lacks the name Maria/);
  });

  test.each([
    ["de", "Sie können Waren nie zurückgeben.", "Sie können Waren jederzeit zurückgeben."],
    ["fr", "Vous ne pouvez pas retourner les articles.", "Vous pouvez retourner les articles à tout moment."],
    ["es", "Nunca puede devolver los productos.", "Puede devolver los productos en cualquier momento."],
    ["ja", "商品は返品できません。", "商品は返品できます。"],
  ])("is found in %s", (language, claim, text) => {
    expect(differenceOf(claim, text, text, "", language)).toMatch(/negation/);
  });
});

describe("a statement in other words than its quote", () => {
  test.each([
    ["Goods can be returned for 30 days.", "You can return goods within 30 days."],
    ["It is not possible to return sale items.", "Sale items cannot be returned."],
    ["On weekdays we are open from 9 to 17.", HOURS],
  ])("agrees with it: %s", (claim, quote) => {
    expect(differenceOf(claim, quote)).toBeNull();
  });

  test("may repeat a name and a number of the question", () => {
    const claim = "Yes, Anna, you can return the Kestrel 3 within 30 days.";
    expect(differenceOf(claim, "return goods within 30 days", RETURNS, "Can I, Anna, return my Kestrel 3?")).toBeNull();
  });

  test("may have German nouns of its own", () => {
    const text = "Sie können Waren binnen 30 Tagen zurückgeben.";
    const claim = "Die Rückgabe der Artikel ist 30 Tage lang möglich.";
    expect(differenceOf(claim, text, text, "", "de")).toBeNull();
  });
});
