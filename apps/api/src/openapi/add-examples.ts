import { makeExample } from "./make-example.ts";
import type { JsonSchema } from "./openapi-document.ts";

const isObject = (value: unknown): value is JsonSchema => typeof value === "object" && value !== null;

/** Keywords that already show what a value looks like. */
const SHOWN_BY = ["examples", "const", "enum", "default", "$ref", "anyOf", "oneOf", "allOf", "not"];

/** Whether a text has the pattern and length that its field asks for. */
function isPossible(example: unknown, { pattern, minLength, maxLength }: JsonSchema): boolean {
  if (typeof example !== "string") return true;
  if (typeof pattern === "string" && !new RegExp(pattern, "u").test(example)) return false;
  return example.length >= Number(minLength ?? 0) && example.length <= Number(maxLength ?? Infinity);
}

/**
 * Gives each field that holds a text, a number or a boolean an example, in place: readers and generated requests then
 * have values that make sense. Fields that say their values in another way keep them.
 */
export function addExamples(value: unknown): void {
  if (Array.isArray(value)) value.forEach(addExamples);
  if (!isObject(value)) return;
  for (const [name, field] of Object.entries(isObject(value.properties) ? value.properties : {})) {
    const types = [field.type ?? []].flat();
    const isPlain = types.some((type) => ["string", "integer", "number", "boolean"].includes(type));
    if (isPlain && SHOWN_BY.every((keyword) => field[keyword] === undefined)) {
      const example = makeExample(field, {}, { name });
      if (isPossible(example, field)) field["examples"] = [example];
    }
    // A field that may be null: the example belongs to what it is else.
    for (const choice of field.anyOf ?? []) {
      addExamples({ properties: { [name]: choice } });
    }
    if (field.items !== undefined && types.includes("array")) addExamples({ properties: { [name]: field.items } });
  }
  for (const [keyword, child] of Object.entries(value)) {
    // Fields may be named as keywords are.
    if (keyword === "properties" && isObject(child)) Object.values(child).forEach(addExamples);
    else if (!["examples", "default", "const", "enum"].includes(keyword)) addExamples(child);
  }
}
