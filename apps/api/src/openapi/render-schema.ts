import { escapeHtml, inlineHtml } from "./html.ts";
import type { JsonSchema } from "./openapi-document.ts";

/** How schemas are shown. */
export interface SchemaView {
  /** The named ones. */
  schemas: Record<string, JsonSchema>;
  /** What is told of a field: in what is sent that it must be there, in what is answered that it may be absent. */
  tells: "required" | "absent";
}

const nameOf = ($ref: string) => $ref.split("/").at(-1) ?? "";
const code = (value: unknown) =>
  `<code>${escapeHtml(typeof value === "string" ? value : JSON.stringify(value))}</code>`;

/** A link to a named schema. */
const linkTo = (name: string) => `<a href="#schema-${escapeHtml(name)}">${escapeHtml(name)}</a>`;

const isObject = (schema: JsonSchema) => schema.properties !== undefined;

/** True for what is shown where it is used: a word or number, even where it has a name. */
const isPlain = ({ type }: JsonSchema) => ["string", "integer", "number", "boolean"].includes(String(type));

/** What a name stands for where it is shown in its place; else the schema itself, which is a link or has no name. */
function inPlace(schema: JsonSchema, view: SchemaView): JsonSchema {
  const { $ref, ...own } = schema;
  const target = $ref === undefined ? undefined : view.schemas[nameOf($ref)];
  return target !== undefined && isPlain(target) ? { ...target, ...own } : schema;
}

/** What kind of value a schema takes, in words. */
export function typeHtml(given: JsonSchema, view: SchemaView): string {
  const schema = inPlace(given, view);
  const typesOf = (several: JsonSchema[], word: string) =>
    [...new Set(several.map((one) => typeHtml(one, view)))].join(word);
  if (schema.$ref !== undefined) return linkTo(nameOf(schema.$ref));
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return typesOf(choices, " or ");
  if (schema.allOf !== undefined) return typesOf(schema.allOf, " and ");
  if (schema.const !== undefined) return code(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(code).join(" or ");
  if (schema.items !== undefined && schema.type === "array") return `list of ${typeHtml(schema.items, view)}`;
  if (schema.type === undefined) return "any JSON";
  const { additionalProperties } = schema;
  if (schema.type === "object" && !isObject(schema) && typeof additionalProperties === "object") {
    return `object of ${typeHtml(additionalProperties, view)}`;
  }
  const format = typeof schema["format"] === "string" ? ` (${escapeHtml(schema["format"])})` : "";
  return `${[schema.type].flat().map(escapeHtml).join(" or ")}${format}`;
}

/** Patterns that words say better. */
const PATTERN_WORDS: Record<string, string> = {
  [String.raw`\S`]: "not only whitespace",
  [String.raw`^[^\u0000-\u001f\u007f-\u009f]*$`]: "no control characters",
};

const LIMIT_WORDS: [minimum: string, maximum: string, unit: string][] = [
  ["minLength", "maxLength", " characters"],
  ["minItems", "maxItems", " items"],
  ["minimum", "maximum", ""],
];

const number = new Intl.NumberFormat("en-GB");
const amount = (value: unknown) => (typeof value === "number" ? number.format(value) : String(value));

/** Between what a value must lie, in words; as HTML. */
function limitsOf(schema: JsonSchema): string[] {
  const bounds = LIMIT_WORDS.flatMap(([minimum, maximum, unit]) => {
    const from = schema[minimum];
    const to = schema[maximum];
    if (from === undefined && to === undefined) return [];
    if (from === undefined) return [`at most ${amount(to)}${unit}`];
    return [to === undefined ? `at least ${amount(from)}${unit}` : `${amount(from)} to ${amount(to)}${unit}`];
  });
  const { pattern: wanted } = schema;
  const pattern = typeof wanted === "string" ? [PATTERN_WORDS[wanted] ?? `matches ${code(wanted)}`] : [];
  const preset = schema["default"] === undefined ? [] : [`defaults to ${code(schema["default"])}`];
  return [...bounds, ...pattern, ...preset];
}

/** Limits of a value and, for a list, of what is in it. */
function allLimitsOf(schema: JsonSchema, view: SchemaView): string[] {
  const parts = [schema, ...(schema.items === undefined ? [] : [schema.items]), ...(schema.anyOf ?? [])];
  return [...new Set(parts.map((part) => inPlace(part, view)).flatMap(limitsOf))];
}

/** What is told of whether a field is there; nothing where that goes without saying. */
function presenceHtml(isRequired: boolean, { tells }: SchemaView): string {
  if (tells === "required") return isRequired ? ' <span class="required">required</span>' : "";
  return isRequired ? "" : ' <span class="limits">optional</span>';
}

/** A field or parameter, and where it is. */
interface Field {
  name: string;
  schema: JsonSchema;
  isRequired?: boolean;
  place?: string;
}

/** One field or parameter: name, type, whether it must be there, limits, and what it is. */
export function fieldHtml(
  { name, schema, isRequired = false, place = "" }: Field,
  view: SchemaView,
  nested = "",
): string {
  const limits = allLimitsOf(schema, view);
  const { description } = inPlace(schema, view);
  return [
    `<li><code class="name">${escapeHtml(name)}</code> `,
    place === "" ? "" : `<span class="place">${place}</span> `,
    `<span class="type">${typeHtml(schema, view)}</span>`,
    presenceHtml(isRequired, view),
    limits.length === 0 ? "" : ` <span class="limits">${limits.join(", ")}</span>`,
    description === undefined ? "" : `<div class="words">${inlineHtml(description)}</div>`,
    nested,
    "</li>",
  ].join("");
}

/** The object that a field has without a name of its own: its fields are shown under it. */
function unnamedObjects(schema: JsonSchema): JsonSchema[] {
  const parts = [schema, schema.items ?? {}, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  const { additionalProperties } = schema;
  return [...parts, ...(typeof additionalProperties === "object" ? [additionalProperties] : [])].filter(isObject);
}

/** The fields of an object, each with those of objects in it that have no name; empty for what has no fields. */
export function fieldsHtml(schema: JsonSchema, view: SchemaView): string {
  const fields = Object.entries(schema.properties ?? {});
  if (fields.length === 0) return "";
  const required = new Set(schema.required);
  const items = fields.map(([name, field]) =>
    fieldHtml(
      { name, schema: field, isRequired: required.has(name) },
      view,
      unnamedObjects(field)
        .map((inner) => fieldsHtml(inner, view))
        .join(""),
    ),
  );
  return `<ul class="fields">${items.join("")}</ul>`;
}

/** A schema in full: its fields, or those of each of its kinds. */
export function schemaHtml(schema: JsonSchema, view: SchemaView): string {
  const target = schema.$ref === undefined ? schema : (view.schemas[nameOf(schema.$ref)] ?? {});
  if (target.allOf !== undefined) return target.allOf.map((part) => schemaHtml(part, view)).join("");
  const kinds = (target.oneOf ?? target.anyOf)?.filter((kind) => kind.$ref !== undefined || isObject(kind)) ?? [];
  if (kinds.length > 1) {
    const shown = kinds.map((kind) =>
      kind.$ref === undefined ? fieldsHtml(kind, view) : `<p>${typeHtml(kind, view)}</p>`,
    );
    return `<p class="words">One of these:</p><ol class="kinds">${shown.map((kind) => `<li>${kind}</li>`).join("")}</ol>`;
  }
  const fields = fieldsHtml(target, view);
  return fields === "" ? `<ul class="fields">${fieldHtml({ name: "value", schema: target }, view)}</ul>` : fields;
}
