import type { JsonSchema } from "./openapi-document.ts";

/** Deeper than this there is no example any more: a schema may contain itself. */
const MAX_DEPTH = 24;

const BY_FORMAT: Record<string, unknown> = {
  uuid: "01a1fe7b-4312-7362-b590-0b7f11541fa3",
  "date-time": "2027-01-04T09:30:00.000Z",
  date: "2027-01-04",
  email: "ada@example.org",
  uri: "https://example.org/page",
};

/** What stands in fields of these names. */
const BY_NAME: Record<string, unknown> = {
  id: "01a1fe7b-4312-7362-b590-0b7f11541fa3",
  project: "default",
  homeProject: "default",
  url: "https://example.org/page",
  sitemap: "https://example.org/sitemap.xml",
  language: "en",
  locale: "en",
  mime: "text/plain",
  filename: "notes.txt",
  base64: "SGVsbG8u",
  drainUrl: "/api/v1/messages/customer-17",
  chatId: "customer-17",
  userId: "u-17",
  name: "Example",
  title: "Opening hours",
  text: "We are open from 9 to 5.",
  subject: "When are you open?",
  question: "When are you open?",
  actor: "key:01a1fe7b-4312-7362-b590-0b7f11541fa3",
  channelId: "api",
};

const isNull = ({ type }: JsonSchema) => type === "null";

function exampleOfString({ format, minLength = 0 }: JsonSchema, name: string): unknown {
  const known = (typeof format === "string" ? BY_FORMAT[format] : undefined) ?? BY_NAME[name];
  if (typeof known === "string") return known;
  return "text".padEnd(Number(minLength), "x");
}

/** A value that has the shape of a schema, to be shown: the same each time. */
export function makeExample(
  schema: JsonSchema,
  components: Record<string, JsonSchema>,
  { name = "", depth = 0 }: { name?: string; depth?: number } = {},
): unknown {
  const inside = (child: JsonSchema, childName = name) =>
    makeExample(child, components, { name: childName, depth: depth + 1 });
  const [example] = Array.isArray(schema["examples"]) ? (schema["examples"] as unknown[]) : [];
  const said = schema.const ?? example ?? schema["default"] ?? schema.enum?.[0];
  if (said !== undefined) return said;
  if (schema.$ref !== undefined) return inside(components[schema.$ref.split("/").at(-1) ?? ""] ?? {});
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return inside(choices.find((choice) => !isNull(choice)) ?? {});
  if (schema.allOf !== undefined) return Object.assign({}, ...schema.allOf.map((part) => inside(part)));
  const types = [schema.type ?? []].flat();
  const type = types.find((one) => one !== "null");
  if (type === "object") {
    const fields = Object.entries(schema.properties ?? {});
    return Object.fromEntries(depth > MAX_DEPTH ? [] : fields.map(([field, child]) => [field, inside(child, field)]));
  }
  if (type === "array") return schema.items === undefined || depth > MAX_DEPTH ? [] : [inside(schema.items)];
  if (type === "integer" || type === "number") return schema["minimum"] ?? 1;
  if (type === "boolean") return true;
  return type === "string" ? exampleOfString(schema, name) : null;
}
