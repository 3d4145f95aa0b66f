import { describe, expect, test } from "@jest/globals";
import { addEdit, changesOf, conflictsOf, rebaseEdits, withEdits } from "./use-settings-form.ts";

const SAVED = { color: "#112233", allowedOrigins: ["https://one.example"], timeoutMs: 30_000 };

describe("edits of settings", () => {
  test("are shown instead of the saved values, and only they are saved", () => {
    const edits = addEdit({}, SAVED, "color", "#ffffff");
    expect(withEdits(SAVED, edits)).toEqual({ ...SAVED, color: "#ffffff" });
    expect(changesOf(SAVED, edits)).toEqual({ color: "#ffffff" });
  });

  test("are removed once the value equals the saved one, including lists", () => {
    const edits = addEdit({}, SAVED, "allowedOrigins", []);
    expect(addEdit(edits, SAVED, "allowedOrigins", ["https://one.example"])).toEqual({});
  });

  test("keep their own fields, while other fields follow what another operator saves", () => {
    const edits = addEdit({}, SAVED, "color", "#ffffff");
    const now = { ...SAVED, timeoutMs: 5_000 };
    expect(withEdits(now, edits)).toEqual({ ...now, color: "#ffffff" });
    expect(conflictsOf(now, edits)).toEqual([]);
  });

  test("conflict with what another operator has saved in the same field, until the operator confirms them", () => {
    const edits = addEdit({}, SAVED, "color", "#ffffff");
    const now = { ...SAVED, color: "#000000" };
    expect(conflictsOf(now, edits)).toEqual(["color"]);
    const meant = rebaseEdits(now, edits);
    expect(conflictsOf(now, meant)).toEqual([]);
    expect(changesOf(now, meant)).toEqual({ color: "#ffffff" });
  });

  test("are removed when another operator saves the same values", () => {
    const edits = addEdit({}, SAVED, "color", "#ffffff");
    const now = { ...SAVED, color: "#ffffff" };
    expect(conflictsOf(now, edits)).toEqual([]);
    expect(changesOf(now, edits)).toEqual({});
    expect(rebaseEdits(now, edits)).toEqual({});
  });
});
