import { describe, expect, test } from "@jest/globals";
import { openOwnDrafts } from "./own-drafts.ts";

function makeStorage() {
  const texts = new Map<string, string>();
  return {
    getItem: (key: string) => texts.get(key) ?? null,
    setItem: (key: string, value: string) => void texts.set(key, value),
    removeItem: (key: string) => void texts.delete(key),
    keys: () => [...texts.keys()],
  };
}

describe("what an operator has begun to write", () => {
  test("is there again after a reload, for this operator and ticket only", () => {
    const storage = makeStorage();
    openOwnDrafts(storage, "ann").keep("t1", { mode: "note", text: "Call back" });
    expect(openOwnDrafts(storage, "ann").find("t1")).toMatchObject({ mode: "note", text: "Call back" });
    expect(openOwnDrafts(storage, "ann").find("t2")).toBeNull();
    expect(openOwnDrafts(storage, "bob").find("t1")).toBeNull();
  });

  test("is forgotten when it is empty or sent", () => {
    const drafts = openOwnDrafts(makeStorage(), "ann");
    drafts.keep("t1", { mode: "reply", text: "Hello" });
    drafts.keep("t1", { mode: "reply", text: " " });
    expect(drafts.find("t1")).toBeNull();
  });

  test("makes room for what is newer", () => {
    const storage = makeStorage();
    const drafts = openOwnDrafts(storage, "ann");
    for (let at = 0; at < 210; at += 1) drafts.keep(`t${at}`, { mode: "reply", text: "x" }, at);
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
