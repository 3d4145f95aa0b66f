import { describe, expect, test } from "@jest/globals";
import { findMention, mentionsIn, NO_TEXTS, openOwnDrafts } from "./own-drafts.ts";
import type { ComposeMode, DraftFile } from "./own-drafts.ts";

const SEEN = { messageSeq: 3, replySeq: 2, eventId: 7, draft: null, status: "open" as const, assignee: null };
const FILE = { name: "a.pdf", sizeBytes: 9, fileId: "f1", atMs: 5 };

function makeStorage() {
  const texts = new Map<string, string>();
  return {
    getItem: (key: string) => texts.get(key) ?? null,
    setItem: (key: string, value: string) => void texts.set(key, value),
    removeItem: (key: string) => void texts.delete(key),
    keys: () => [...texts.keys()],
  };
}

const draftOf = (mode: ComposeMode, text: string, files: readonly DraftFile[] = []) => ({
  mode,
  texts: { ...NO_TEXTS, [mode]: text },
  macro: null,
  seen: SEEN,
  files,
});

describe("an unsent text", () => {
  test("is restored after a reload, for its operator and ticket only", () => {
    const storage = makeStorage();
    openOwnDrafts(storage, "ann").save("t1", draftOf("note", "Call back"));
    expect(openOwnDrafts(storage, "ann").find("t1")).toMatchObject({ mode: "note", texts: { note: "Call back" } });
    expect(openOwnDrafts(storage, "ann").find("t2")).toBeNull();
    expect(openOwnDrafts(storage, "bob").find("t1")).toBeNull();
  });

  test("is deleted when it is empty", () => {
    const drafts = openOwnDrafts(makeStorage(), "ann");
    drafts.save("t1", draftOf("reply", "Hello"));
    drafts.save("t1", draftOf("reply", " "));
    expect(drafts.find("t1")).toBeNull();
  });

  test("includes the seen state of the ticket and its files, which are stored without text as well", () => {
    const storage = makeStorage();
    openOwnDrafts(storage, "ann").save("t1", draftOf("reply", "", [FILE]));
    expect(openOwnDrafts(storage, "ann").find("t1")).toMatchObject({ seen: SEEN, files: [FILE] });
    storage.setItem("console.draft.ann.t2", '{"mode":"reply","text":"x","seen":{"replySeq":1},"files":[{"name":1}]}');
    expect(openOwnDrafts(storage, "ann").find("t2")).toMatchObject({
      texts: { ...NO_TEXTS, reply: "x" },
      seen: null,
      files: [],
    });
  });

  test("of a note is separate from that of a reply", () => {
    const storage = makeStorage();
    const texts = { reply: "Hello", edit: "", note: "Angry" };
    openOwnDrafts(storage, "ann").save("t1", { ...draftOf("reply", ""), texts });
    expect(openOwnDrafts(storage, "ann").find("t1")).toMatchObject({ mode: "reply", texts });
  });

  test("is deleted if it is older than the last 200", () => {
    const storage = makeStorage();
    const drafts = openOwnDrafts(storage, "ann");
    for (let at = 0; at < 210; at += 1) drafts.save(`t${at}`, draftOf("reply", "x"), at);
    expect(storage.keys()).toHaveLength(200);
    expect(drafts.find("t0")).toBeNull();
    expect(drafts.find("t209")).not.toBeNull();
  });

  test("is null if the stored value is invalid", () => {
    const storage = makeStorage();
    storage.setItem("console.draft.ann.t1", "{");
    storage.setItem("console.draft.ann.t2", '{"mode":"shout","text":"x"}');
    const drafts = openOwnDrafts(storage, "ann");
    expect([drafts.find("t1"), drafts.find("t2")]).toEqual([null, null]);
  });
});

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
