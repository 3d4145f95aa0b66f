import { describe, expect, test } from "@jest/globals";
import { NO_TEXTS, openOwnDrafts } from "./own-drafts.ts";
import type { ComposeMode, KeptFile } from "./own-drafts.ts";

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

const begun = (mode: ComposeMode, text: string, files: readonly KeptFile[] = []) => ({
  mode,
  texts: { ...NO_TEXTS, [mode]: text },
  macro: null,
  seen: SEEN,
  files,
});

describe("what an operator has begun to write", () => {
  test("is there again after a reload, for this operator and ticket only", () => {
    const storage = makeStorage();
    openOwnDrafts(storage, "ann").keep("t1", begun("note", "Call back"));
    expect(openOwnDrafts(storage, "ann").find("t1")).toMatchObject({ mode: "note", texts: { note: "Call back" } });
    expect(openOwnDrafts(storage, "ann").find("t2")).toBeNull();
    expect(openOwnDrafts(storage, "bob").find("t1")).toBeNull();
  });

  test("is forgotten when it is empty or sent", () => {
    const drafts = openOwnDrafts(makeStorage(), "ann");
    drafts.keep("t1", begun("reply", "Hello"));
    drafts.keep("t1", begun("reply", " "));
    expect(drafts.find("t1")).toBeNull();
  });

  test("has what was seen of the ticket, and its files, which are kept without words, too", () => {
    const storage = makeStorage();
    openOwnDrafts(storage, "ann").keep("t1", begun("reply", "", [FILE]));
    expect(openOwnDrafts(storage, "ann").find("t1")).toMatchObject({ seen: SEEN, files: [FILE] });
    storage.setItem("console.draft.ann.t2", '{"mode":"reply","text":"x","seen":{"replySeq":1},"files":[{"name":1}]}');
    expect(openOwnDrafts(storage, "ann").find("t2")).toMatchObject({
      texts: { ...NO_TEXTS, reply: "x" },
      seen: null,
      files: [],
    });
  });

  test("keeps a note apart from a reply", () => {
    const storage = makeStorage();
    const texts = { reply: "Hello", edit: "", note: "Angry" };
    openOwnDrafts(storage, "ann").keep("t1", { ...begun("reply", ""), texts });
    expect(openOwnDrafts(storage, "ann").find("t1")).toMatchObject({ mode: "reply", texts });
  });

  test("makes room for what is newer", () => {
    const storage = makeStorage();
    const drafts = openOwnDrafts(storage, "ann");
    for (let at = 0; at < 210; at += 1) drafts.keep(`t${at}`, begun("reply", "x"), at);
    expect(storage.keys()).toHaveLength(200);
    expect(drafts.find("t0")).toBeNull();
    expect(drafts.find("t209")).not.toBeNull();
  });

  test("is nothing where the storage holds something else", () => {
    const storage = makeStorage();
    storage.setItem("console.draft.ann.t1", "{");
    storage.setItem("console.draft.ann.t2", '{"mode":"shout","text":"x"}');
    const drafts = openOwnDrafts(storage, "ann");
    expect([drafts.find("t1"), drafts.find("t2")]).toEqual([null, null]);
  });
});
