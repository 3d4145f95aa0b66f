import { expect, test } from "@jest/globals";
import { contactFacts } from "./contact-facts.ts";

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
