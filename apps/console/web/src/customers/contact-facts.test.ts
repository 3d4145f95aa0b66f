import { describe, expect, test } from "@jest/globals";
import { contactFacts, attributesOf, attributesText } from "./contact-facts.ts";

describe("attributesText", () => {
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
});

test("each value is shown once, with its strongest label", () => {
  const address = "sara@example.com";
  const facts = contactFacts({
    email: address,
    externalId: "Sara@example.com",
    identities: [
      { kind: "visitor", value: "3f1c" },
      { kind: "user", value: address },
      { kind: "email", value: address },
    ],
  });
  expect(facts).toEqual([
    { label: "customer.kind.email", value: address },
    { label: "customer.kind.visitor", value: "3f1c" },
  ]);
  expect(contactFacts({ email: address, externalId: "c-7", identities: [{ kind: "user", value: "c-7" }] })).toEqual([
    { label: "customer.kind.user", value: "c-7" },
    { label: "details.email", value: address },
  ]);
});
