import { describe, expect, test } from "@jest/globals";
import { addEdit, changesOf, conflictsOf, onTopOf, withEdits } from "./use-settings-form.ts";

const SAVED = { color: "#112233", allowedOrigins: ["https://one.example"], timeoutMs: 30_000 };

describe("edits of settings", () => {
  test("are shown over what is saved, and only they are to be saved", () => {
    const edits = addEdit({}, SAVED, "color", "#ffffff");
    expect(withEdits(SAVED, edits)).toEqual({ ...SAVED, color: "#ffffff" });
    expect(changesOf(SAVED, edits)).toEqual({ color: "#ffffff" });
  });

  test("are none once the value is what it was, lists included", () => {
    const edits = addEdit({}, SAVED, "allowedOrigins", []);
    expect(addEdit(edits, SAVED, "allowedOrigins", ["https://one.example"])).toEqual({});
  });

  test("follow other fields that somebody else saves, and keep their own", () => {
    const edits = addEdit({}, SAVED, "color", "#ffffff");
    const now = { ...SAVED, timeoutMs: 5_000 };
    expect(withEdits(now, edits)).toEqual({ ...now, color: "#ffffff" });
    expect(conflictsOf(now, edits)).toEqual([]);
  });

  test("stand against what somebody else saved in the same field, until they are meant anyway", () => {
    const edits = addEdit({}, SAVED, "color", "#ffffff");
    const now = { ...SAVED, color: "#000000" };
    expect(conflictsOf(now, edits)).toEqual(["color"]);
    const meant = onTopOf(now, edits);
    expect(conflictsOf(now, meant)).toEqual([]);
    expect(changesOf(now, meant)).toEqual({ color: "#ffffff" });
  });

  test("are done with when somebody else saves the same", () => {
    const edits = addEdit({}, SAVED, "color", "#ffffff");
    const now = { ...SAVED, color: "#ffffff" };
    expect(conflictsOf(now, edits)).toEqual([]);
    expect(changesOf(now, edits)).toEqual({});
    expect(onTopOf(now, edits)).toEqual({});
  });
});
