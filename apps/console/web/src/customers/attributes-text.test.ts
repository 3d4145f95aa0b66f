import { expect, test } from "@jest/globals";
import { attributesOf, attributesText } from "./attributes-text.ts";

test("attributes are unchanged after they were formatted as lines and parsed again", () => {
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

test("lines are parsed as attributes, with numbers and booleans, and empty lines are ignored", () => {
  expect(attributesOf("plan: pro\n\n seats : 12 \nvip:true\nnote\nzip: 01234", {})).toEqual({
    plan: "pro",
    seats: 12,
    vip: true,
    note: "",
    zip: "01234",
  });
});
