import { expect, test } from "@jest/globals";
import { differenceOf, flattenValues, pageOf, pickOf, splitQuote } from "./read-ticket.ts";

test("nested values are labelled with their path, and no JSON is left", () => {
  const values = {
    order: "K-2001",
    plan: { name: "Pro", seats: 4, trial: false },
    tags: ["a", "b"],
    items: [{ sku: "P1" }, { sku: "P2", notes: null }],
    empty: {},
  };
  expect(flattenValues(values)).toEqual([
    { label: "order", text: "K-2001" },
    { label: "plan › name", text: "Pro" },
    { label: "plan › seats", text: "4" },
    { label: "plan › trial", text: "false" },
    { label: "tags", text: "a, b" },
    { label: "items › 1 › sku", text: "P1" },
    { label: "items › 2 › sku", text: "P2" },
    { label: "items › 2 › notes", text: "–" },
    { label: "empty", text: "–" },
  ]);
});

test("a quote is found in its passage, even with different white space", () => {
  expect(splitQuote("One. Two (2)\n three. Four.", "Two (2) three.")).toEqual({
    before: "One. ",
    quote: "Two (2)\n three.",
    after: " Four.",
  });
});

test("a missing or empty quote highlights the whole passage", () => {
  expect(splitQuote("abc", "x")).toEqual({ before: "", quote: "abc", after: "" });
  expect(splitQuote("abc", " ")).toEqual({ before: "", quote: "abc", after: "" });
});

const fields = { subject: "Parcel", priority: "normal", tags: ["lost", "north"] } as const;
const before = { ...fields, tags: [...fields.tags] };

test("a change contains only the differences", () => {
  expect(differenceOf(before, { ...before, tags: [...before.tags] })).toEqual({});
  expect(differenceOf(before, { ...before, priority: "high" })).toEqual({ priority: "high" });
  expect(differenceOf(before, { subject: "", priority: "normal", tags: ["lost"] })).toEqual({
    subject: "",
    tags: ["lost"],
  });
  expect(differenceOf(before, { ...before, tags: ["north", "lost"] })).toEqual({ tags: ["north", "lost"] });
});

test("the intersection of two changes contains their common fields", () => {
  expect(pickOf({ subject: "Theirs", priority: "low" }, { subject: "Mine", tags: [] })).toEqual({ subject: "Theirs" });
  expect(pickOf({ priority: "low" }, { tags: [] })).toEqual({});
});

test.each([
  ["https://shop.example/lamps?x=1", { url: "https://shop.example/lamps?x=1", title: "shop.example/lamps" }],
  [
    { url: "http://shop.example/", title: "Lamps" },
    { url: "http://shop.example/", title: "Lamps" },
  ],
  [
    { url: "https://shop.example/", title: 7 },
    { url: "https://shop.example/", title: "shop.example/" },
  ],
  ["javascript:alert(1)", null],
  [{ url: "data:text/html,x", title: "Lamps" }, null],
  ["no address", null],
  [null, null],
])("the page %j is only a link if it is a web URL", (value, link) => {
  expect(pageOf(value)).toEqual(link);
});
