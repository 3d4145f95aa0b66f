/** A value with its name. */
export interface NamedText {
  label: string;
  text: string;
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;
const isPlain = (value: unknown) => typeof value !== "object" || value === null;
const textOf = (value: unknown) => {
  if (value === null || value === "") return "–";
  return typeof value === "string" ? value : JSON.stringify(value);
};

/**
 * Returns JSON as labels with their values, for people: the label of a nested value is the path to it, and a list of
 * plain values is one value.
 */
export function flattenValues(values: Readonly<Record<string, unknown>>, path = ""): NamedText[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const label = `${path}${Array.isArray(values) ? Number(name) + 1 : name}`;
    if (!isRecord(value)) return { label, text: textOf(value) };
    if (Object.keys(value).length === 0) return { label, text: textOf(null) };
    if (Array.isArray(value) && value.every(isPlain)) return { label, text: value.map(textOf).join(", ") };
    return flattenValues(value, `${label} › `);
  });
}
