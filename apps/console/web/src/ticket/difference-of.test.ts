import { expect, test } from "@jest/globals";
import { differenceOf, pickOf } from "./difference-of.ts";

const fields = { subject: "Parcel", priority: "normal", tags: ["lost", "north"] } as const;
const before = { ...fields, tags: [...fields.tags] };

test("a change names what is other than before, and nothing else", () => {
  expect(differenceOf(before, { ...before, tags: [...before.tags] })).toEqual({});
  expect(differenceOf(before, { ...before, priority: "high" })).toEqual({ priority: "high" });
  expect(differenceOf(before, { subject: "", priority: "normal", tags: ["lost"] })).toEqual({
    subject: "",
    tags: ["lost"],
  });
  expect(differenceOf(before, { ...before, tags: ["north", "lost"] })).toEqual({ tags: ["north", "lost"] });
});

test("two changes meet in what both are about", () => {
  expect(pickOf({ subject: "Theirs", priority: "low" }, { subject: "Mine", tags: [] })).toEqual({ subject: "Theirs" });
  expect(pickOf({ priority: "low" }, { tags: [] })).toEqual({});
});
