import { expect, test } from "@jest/globals";
import { findMention, mentionsIn } from "./find-mention.ts";

test("a mention begins with an @ after white space, and ends with a space", () => {
  expect(findMention("ask @an", 7)).toEqual({ at: 4, word: "an" });
  expect(findMention("@", 1)).toEqual({ at: 0, word: "" });
  expect(findMention("ann@example.com", 15)).toBeNull();
  expect(findMention("ask @ann now", 12)).toBeNull();
  expect(findMention("ask @ann now", 7)).toEqual({ at: 4, word: "an" });
  expect(findMention("nobody", 6)).toBeNull();
});

test("a note mentions operators whose names follow an @", () => {
  const people = [
    { actor: "operator:1", name: "Ann Able" },
    { actor: "operator:2", name: "Ben" },
  ];
  expect(mentionsIn("Ask @Ann Able, not Ben.", people)).toEqual({ mentions: ["1"] });
  expect(mentionsIn("Nobody@home", people)).toEqual({});
});

test("a name must match completely, and the longest match counts", () => {
  const people = ["Ann", "Anna", "Ann Able", "Ann-Marie", "Ünal"].map((name) => ({ actor: `operator:${name}`, name }));
  const found = (text: string) => mentionsIn(text, people).mentions ?? [];
  expect(found("@Anna, look")).toEqual(["Anna"]);
  expect(found("@Ann Able and @Ünal!")).toEqual(["Ann Able", "Ünal"]);
  expect(found("@Ann-Marie (@Ann)")).toEqual(["Ann-Marie", "Ann"]);
  expect(found("@Ann’s and @Ann's, and (@Anna)")).toEqual(["Ann", "Anna"]);
  expect(found("@Annabel, @Ann-Sophie, x@Ann, a.b@Ann")).toEqual([]);
});

test("of operators with the same name the chosen ones are mentioned, or all of them", () => {
  const people = ["1", "2", "3"].map((id) => ({ actor: `operator:${id}`, name: "Ann" }));
  expect(mentionsIn("@Ann", people)).toEqual({ mentions: ["1", "2", "3"] });
  expect(mentionsIn("@Ann", people, ["operator:2"])).toEqual({ mentions: ["2"] });
  expect(mentionsIn("nobody", people, ["operator:2"])).toEqual({});
});

test("the author cannot mention themselves, also if a colleague's name begins with theirs", () => {
  const people = [
    { actor: "operator:1", name: "Ann Lee", isMe: true },
    { actor: "operator:2", name: "Ann", isMe: false },
  ];
  expect(mentionsIn("@Ann Lee should look", people)).toEqual({});
  expect(mentionsIn("@Ann Lee and @Ann should look", people)).toEqual({ mentions: ["2"] });
});
