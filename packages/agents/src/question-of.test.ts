import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { questionAsWritten, questionOf, separateQuestions, withoutCourtesies } from "./question-of.ts";

describe("questionOf", () => {
  test.each([
    ["Hi! How much is the deposit? Thanks!", "How much is the deposit?"],
    ["Hello, I would like to know how much the deposit is. Best regards, Anna", "how much the deposit is."],
    ["Dear team, my machine shows E07. What shall I do? Kind regards, Peter", "my machine shows E07. What shall I do?"],
    [
      "Guten Tag, ich möchte mein Gerät einschicken. Wie geht das? Danke! Mit freundlichen Grüßen, Max",
      "ich möchte mein Gerät einschicken. Wie geht das?",
    ],
    [
      "Hello,\n\ncould you please tell me how long the warranty lasts?\n\nMany thanks in advance\nPeter Miller\nTel. 1234",
      "how long the warranty lasts?",
    ],
    [
      "Bonjour, pourriez-vous me dire combien coûte la livraison ? Merci d'avance. Cordialement, Jean",
      "combien coûte la livraison ?",
    ],
    ["hi how much is it", "how much is it"],
    ["I lost my key, help", "I lost my key"],
    ["Thank you. And how do I remove it again?", "And how do I remove it again?"],
    ["Hi anna, where is my order 4711?", "where is my order 4711?"],
  ])("leaves out the courtesies of %j", (message, asked) => {
    expect(questionOf(message)).toBe(asked);
  });

  test.each([
    "How do I change the port?",
    "Hi-res images, can I upload them?",
    "Morning classes, when are they?",
    "In which U.S. state was Dr. King born?",
    "The machine does not start. The lamp is red.",
    "Thanks!",
    "please",
    "Could you tell me?",
    "?",
    "",
  ])("leaves %j as it is", (message) => {
    expect(questionOf(message)).toBe(message);
  });

  test("of a long message, the sentences that ask are left, with the names that stand elsewhere", () => {
    const message =
      "The machine M-200 leaks since Monday. I bought it in Berlin last year. My wife likes it. Can I send it back for a repair?";
    expect(questionOf(message)).toBe("M-200 Can I send it back for a repair?");
  });

  test("a question behind the closing is none of a signature", () => {
    expect(questionOf("My lamp is broken. Kind regards, Tom. PS: How long is the warranty?")).toContain("warranty");
  });

  test.each(["hi, ", "please, ", "a?\n", ", regards ", "What is. ", " \n", "a-", "x", "Thanks! "])(
    "50,000 characters of %j are read in their beginning and end",
    (part) => {
      const text = part.repeat(Math.ceil(50_000 / part.length)).slice(0, 50_000);
      expect(questionOf(text).length).toBeLessThanOrEqual(text.length);
    },
  );
});

describe("questionAsWritten", () => {
  test.each([
    ["Please delete my account and all data.", "Please delete my account and all data."],
    ["Hi! Please delete my account and all data you have. Thanks!", "Please delete my account and all data you have."],
    [
      "Hello,\n\ncould you please tell me how long the warranty lasts?\n\nMany thanks in advance\nPeter Miller",
      "could you please tell me how long the warranty lasts?",
    ],
    ["I lost my key, help", "I lost my key, help"],
    ["How do I change the port?", "How do I change the port?"],
    ["Thanks!", "Thanks!"],
    ["", ""],
  ])("keeps the words of what %j asks", (message, asked) => {
    expect(questionAsWritten(message)).toBe(asked);
  });
});

describe("separateQuestions", () => {
  test.each([
    ["When do you open? And how much is a ticket?", ["When do you open?", "how much is a ticket?"]],
    ["When do you open and how much is a ticket?", ["When do you open", "how much is a ticket?"]],
    ["Was kostet eine Karte und an welchem Tag ist zu?", ["Was kostet eine Karte", "an welchem Tag ist zu?"]],
    ["¿Cuánto cuesta la entrada y a qué hora abren?", ["¿Cuánto cuesta la entrada", "a qué hora abren?"]],
    [
      "I have an M-200. Does it have a grinder? I also need a filter. Do you sell it?",
      ["I have an M-200. Does it have a grinder?", "I also need a filter. Do you sell it?"],
    ],
    ["Do you repair jugs? I broke mine.", ["Do you repair jugs? I broke mine."]],
    ["May I bring my dog? Is that so?", ["May I bring my dog? Is that so?"]],
    ["When and where is the barista course?", ["When and where is the barista course?"]],
    ["Can I send cups and plates back?", ["Can I send cups and plates back?"]],
    ["My cup broke and how it happened is unclear.", ["My cup broke and how it happened is unclear."]],
    ["what does a dog cost and can it come to breakfast", ["what does a dog cost", "can it come to breakfast"]],
    ["was kostet der hund und darf er mit zum frühstück", ["was kostet der hund", "darf er mit zum frühstück"]],
    ["Do you rent bikes? and how much is a lock", ["Do you rent bikes?", "how much is a lock"]],
    ["When I open it, it crashes. How do I reset it?", ["When I open it, it crashes. How do I reset it?"]],
    ["where are you\nwhen do you open", ["where are you", "when do you open"]],
    ["ticket price", ["ticket price"]],
    ["", [""]],
    ["Do you repair jugs? And plates?", ["Do you repair jugs?", "And plates?"]],
  ])("of %j: %j", (message, questions) => {
    expect(separateQuestions(message)).toEqual(questions);
  });

  test("of a long message has four at most, without losing one", () => {
    const names = Array.from({ length: 9 }, (_, at) => `Where is room B${at}?`);
    const questions = separateQuestions(names.join(" "));
    expect(questions).toHaveLength(4);
    expect(questions.join(" ")).toBe(names.join(" "));
  });
});

describe("withoutCourtesies", () => {
  test.each([
    ["Hi Ann,\n\nWe ship **now**.\n\n- One\n- Two\n\nBest regards,\nBen", "We ship **now**.\n\n- One\n- Two"],
    ["Hallo Frau Meier,\ndas geht leider nicht.\n\nMit freundlichen Grüßen\nTom", "das geht leider nicht."],
    ["Thank you! We ship to Iceland. Is that enough?", "We ship to Iceland. Is that enough?"],
    ["We ship to Iceland.", "We ship to Iceland."],
    ["Hello!", ""],
    ["Thank you!", ""],
    ["", ""],
  ])("leaves of %j what it says", (text, stated) => {
    expect(withoutCourtesies(text)).toBe(stated);
  });

  test("a text of 50,000 characters is read whole", () => {
    const text = `Hello! ${"We ship. ".repeat(5_500)}Best regards, Ben`;
    expect(withoutCourtesies(text)).toBe("We ship. ".repeat(5_500).trim());
  });
});

test("whatever the message, its question has words if it has, and what it says is a part of it", () => {
  const courtesies = ["Hi Ann,", "Thank you!", "Best regards,", "Danke,", "Merci", "could you please tell me", "help"];
  const piece = fc.oneof(
    fc.constantFrom(...courtesies, "How much is it?", "E07", "\n", "\n\n", " ", ". ", "?", "- ", "您好", "…"),
    fc.string({ unit: "binary", maxLength: 10 }),
  );
  const property = fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
    const text = pieces.join("");
    const [asked, written, stated] = [questionOf(text), questionAsWritten(text), withoutCourtesies(text)];
    const hasWords = /[\p{L}\p{N}]/u;
    expect(hasWords.test(asked) && hasWords.test(written)).toBe(hasWords.test(text));
    expect(text).toContain(stated);
    for (const part of [asked, written, stated]) expect(part.isWellFormed()).toBe(true);
  });
  fc.assert(property);
});
