/** What a provider has sent, as far as it is an object. */
export type Fields = Readonly<Record<string, unknown>>;

/** An object's fields; of anything else there are none. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

/** A list's entries, at most `max`; of anything else there are none. */
export function entriesOf(value: unknown, max: number): Fields[] {
  return Array.isArray(value) ? value.slice(0, max).map(fieldsOf) : [];
}

/** The first of these that is a count of something; null where none is. */
export function countOf(...values: unknown[]): number | null {
  const found = values.find((value) => typeof value === "number" && Number.isSafeInteger(value) && value >= 0);
  return typeof found === "number" ? found : null;
}

const NAME = /^[^\s\p{C}]{1,250}$/u;

/** A model's name; null for what can be none, such as a text with spaces or controls in it. */
export function nameOf(value: unknown): string | null {
  return typeof value === "string" && NAME.test(value) ? value : null;
}

/** Models of one provider that are read at most. */
export const MAX_MODELS = 2_000;
