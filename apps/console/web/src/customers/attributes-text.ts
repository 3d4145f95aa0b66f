import type { CustomerAttributes } from "@svc/contracts";

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
