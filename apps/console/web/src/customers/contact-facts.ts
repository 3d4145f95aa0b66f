import type { CustomerItem, CustomerAttributes } from "@svc/contracts";
import type { TextKey } from "../i18n/texts.ts";

/** Returns attributes as lines of `name: value`. */
export const attributesText = (attributes: CustomerAttributes): string =>
  Object.entries(attributes)
    .map(([name, value]) => `${name}: ${String(value)}`)
    .join("\n");

/**
 * Parses attributes from lines of `name: value`; numbers and booleans are converted, and a value with the same text as
 * in `before` keeps its type.
 */
export function attributesOf(text: string, before: CustomerAttributes): CustomerAttributes {
  const entries = text.split("\n").flatMap((line): [string, string | number | boolean][] => {
    const [start = "", ...rest] = line.split(":");
    const name = start.trim();
    if (name === "") return [];
    const value = rest.join(":").trim();
    const known = Object.hasOwn(before, name) ? before[name] : undefined;
    if (known !== undefined && String(known) === value) return [[name, known]];
    if (value === "true" || value === "false") return [[name, value === "true"]];
    return [[name, value !== "" && String(Number(value)) === value ? Number(value) : value]];
  });
  return Object.fromEntries(entries);
}

/** A value that a customer is known by, with its label. */
interface ContactFact {
  label: TextKey;
  value: string;
}

/** Order of the labels of one value: the first one says most about it. */
const STRENGTH: readonly TextKey[] = [
  "customer.kind.email",
  "customer.kind.user",
  "details.email",
  "customer.externalId",
  "customer.kind.telegram",
  "customer.kind.visitor",
  "customer.kind.chat",
];

/** Returns the address and the IDs of a customer: each value once, with the strongest of its labels. */
export function contactFacts({
  email,
  externalId,
  identities,
}: Pick<CustomerItem, "email" | "externalId" | "identities">): ContactFact[] {
  const facts: ContactFact[] = [
    ...(email === null ? [] : [{ label: "details.email" as const, value: email }]),
    ...(externalId === null ? [] : [{ label: "customer.externalId" as const, value: externalId }]),
    ...identities.map(({ kind, value }) => ({ label: `customer.kind.${kind}` as const, value })),
  ].sort((one, other) => STRENGTH.indexOf(one.label) - STRENGTH.indexOf(other.label));
  const keyOf = ({ value }: ContactFact) => value.toLowerCase();
  return facts.filter((fact, index) => facts.findIndex((other) => keyOf(other) === keyOf(fact)) === index);
}

/** Returns what tells a customer apart from others of the same name: the address and the ID, unless they are the name. */
export const describeCustomer = ({ email, externalId }: CustomerItem, name: string): string =>
  [...new Set([email, externalId])].filter((fact) => fact !== null && fact !== name).join(" · ");
