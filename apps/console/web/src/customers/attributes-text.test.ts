import { expect, test } from "@jest/globals";
import { attributesOf, attributesText } from "./attributes-text.ts";

test("attributes are the same after they were shown as lines and read again", () => {
  const attributes = {
    plan: "pro",
    seats: 12,
    "is paid": true,
    zip: "01234",
    number: "12",
    url: "https://x.example:1",
  };
  expect(attributesOf(attributesText(attributes), attributes)).toEqual(attributes);
});

test("lines are attributes: numbers and booleans as such, and nothing of empty lines", () => {
  expect(attributesOf("plan: pro\n\n seats : 12 \nvip:true\nnote\nzip: 01234", {})).toEqual({
    plan: "pro",
    seats: 12,
    vip: true,
    note: "",
    zip: "01234",
  });
});
