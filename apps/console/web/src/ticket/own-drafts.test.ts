import { describe, expect, test } from "@jest/globals";
import { NO_TEXTS, openOwnDrafts } from "./own-drafts.ts";
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
