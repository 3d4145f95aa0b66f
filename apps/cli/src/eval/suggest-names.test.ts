import { expect, test } from "@jest/globals";
import { suggestNames } from "./suggest-names.ts";

test("suggests up to three names like what was written, the likeliest first", () => {
  const names = ["billing", "Building a shed", "tech", "billing 2", "billings", "billing"];
  expect(suggestNames("biling", names)).toEqual(["billing", "billing 2", "billings"]);
});

test("does not suggest what is much less like it than another", () => {
  expect(suggestNames("invoice.md", ["invoices.md", "pairing.md"])).toEqual(["invoices.md"]);
});

test("suggests nothing where nothing is like it", () => {
  expect(suggestNames("quokka", ["billing", "", "tech"])).toEqual([]);
});
