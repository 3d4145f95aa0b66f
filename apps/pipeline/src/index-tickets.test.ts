import { describe, expect, test } from "@jest/globals";
import { wordsOfTicket } from "./index-tickets.ts";

describe("the words of a ticket", () => {
  test("are those of its subject and of all its messages", () => {
    const texts = ["Wo ist meine Größe?", "Die Grösse ist unterwegs."];
    expect(wordsOfTicket({ indexed: null, subject: "Größe", customer: "", texts })).toEqual([
      "grosse",
      "wo",
      "ist",
      "meine",
      "die",
      "unterwegs",
    ]);
  });

  test("include those of later messages", () => {
    expect(wordsOfTicket({ indexed: ["a", "b"], subject: "ignored", customer: "", texts: ["b c"] })).toEqual([
      "a",
      "b",
      "c",
    ]);
  });

  test("stay within PostgreSQL's limit, however long the conversation is", () => {
    const texts = Array.from({ length: 10 }, (_, text) =>
      Array.from({ length: 1_000 }, (__, word) => `wort${text}x${word}x${"y".repeat(50)}`).join(" "),
    );
    const words = wordsOfTicket({ indexed: null, subject: "", customer: "", texts });
    expect(words[0]).toMatch(/^wort0x0x/);
    expect(Buffer.byteLength(words.join(""))).toBeLessThan(400_000);
    expect(wordsOfTicket({ indexed: words, subject: "", customer: "", texts: ["onemore"] }).length).toBeLessThanOrEqual(
      words.length + 1,
    );
  });
});
