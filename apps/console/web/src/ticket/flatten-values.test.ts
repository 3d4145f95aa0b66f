import { expect, test } from "@jest/globals";
import { flattenValues } from "./flatten-values.ts";

test("nested values are labelled with the path to them, and no JSON is left", () => {
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
