import * as contracts from "@svc/contracts";
import { z } from "zod";
import type { JsonSchema } from "./openapi-document.ts";

/** Whether a schema describes what comes in, before defaults and changes, or what goes out. */
type Direction = "input" | "output";

/** The JSON Schemas of what endpoints take and answer, with the ones that are named. */
export interface DescribedSchemas {
  /** By the keys that they were given under. */
  input: Record<string, JsonSchema>;
  output: Record<string, JsonSchema>;
  /** What the others refer to as `#/components/schemas/<name>`. */
  components: Record<string, JsonSchema>;
}

const DEFINITIONS = "#/$defs/";
const COMPONENTS = "#/components/schemas/";
/** Formats that say more than the pattern that zod writes beside them. */
const SPEAKING_FORMATS = new Set(["uuid", "date-time", "email"]);

/** Every schema that the contracts export has a name: that of its type. */
function namesOfSchemas(): Map<z.ZodType, string> {
  const named = Object.entries(contracts).flatMap(([name, value]): [z.ZodType, string][] =>
    name.endsWith("Schema") && value instanceof z.ZodType
      ? [[value, `${name.charAt(0).toUpperCase()}${name.slice(1, -"Schema".length)}`]]
      : [],
  );
  return new Map(named);
}

/** What zod looks names and descriptions up in: both the exports and what the schemas say of themselves. */
function metadataOf(names: ReadonlyMap<unknown, string>): typeof z.globalRegistry {
  const registry = z.registry<z.core.GlobalMeta>();
  return Object.assign(registry, {
    get(schema: z.core.$ZodType) {
      const said = z.globalRegistry.get(schema);
      const id = names.get(schema);
      return id === undefined ? said : { ...said, id };
    },
  });
}

/** Takes away what zod writes and nobody needs to read, and what would forbid answers to grow. */
function tidy({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodType; jsonSchema: JsonSchema }): void {
  const { def } = zodSchema._zod;
  // Only strict objects refuse fields; of answers clients ignore fields that they do not know.
  if (def.type === "object" && !("catchall" in def && def.catchall !== undefined)) {
    delete jsonSchema.additionalProperties;
  }
  // In a query a number is a text that has a pattern; it is described as the number that it means.
  if (jsonSchema.type === "integer") delete jsonSchema["pattern"];
  if (typeof jsonSchema["format"] === "string" && SPEAKING_FORMATS.has(jsonSchema["format"])) {
    delete jsonSchema["pattern"];
  }
  // `contentEncoding` says it; a format base64 is none of JSON Schema.
  if (jsonSchema["format"] === "base64") {
    delete jsonSchema["format"];
    delete jsonSchema["pattern"];
  }
  if (jsonSchema["maximum"] === Number.MAX_SAFE_INTEGER) delete jsonSchema["maximum"];
  if (jsonSchema["minimum"] === Number.MIN_SAFE_INTEGER) delete jsonSchema["minimum"];
  delete jsonSchema["id"];
}

interface Converted {
  schemas: Record<string, JsonSchema>;
  definitions: Record<string, JsonSchema>;
}

/** All schemas of one direction at once, so that each named one comes once. */
function convert(schemas: Record<string, z.ZodType>, io: Direction, names: ReadonlyMap<z.ZodType, string>): Converted {
  const { properties = {}, $defs = {} } = z.toJSONSchema(z.object(schemas), {
    io,
    target: "draft-2020-12",
    metadata: metadataOf(names),
    // What a check of our own demands stands in the schema's metadata.
    unrepresentable: "any",
    override: tidy as (context: { zodSchema: z.core.$ZodTypes; jsonSchema: z.core.JSONSchema.BaseSchema }) => void,
  });
  // A copy of its own for each place: zod shares objects.
  return structuredClone({ schemas: properties, definitions: $defs }) as Converted;
}

/** A copy with other references. */
function withReferences(value: unknown, rename: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => withReferences(item, rename));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) =>
      key === "$ref" && typeof child === "string"
        ? [key, `${COMPONENTS}${rename(child.slice(DEFINITIONS.length))}`]
        : [key, withReferences(child, rename)],
    ),
  );
}

const refersTo = (schema: JsonSchema, names: ReadonlySet<string>) =>
  [...JSON.stringify(schema).matchAll(/"#\/\$defs\/([^"]+)"/g)].some(([, name = ""]) => names.has(name));

/** The names that mean something else for what comes in than for what goes out. */
function findTwofold(input: Record<string, JsonSchema>, output: Record<string, JsonSchema>): Set<string> {
  const both = Object.keys(input).filter((name) => name in output);
  const twofold = new Set(both.filter((name) => JSON.stringify(input[name]) !== JSON.stringify(output[name])));
  for (let size = -1; size !== twofold.size;) {
    size = twofold.size;
    for (const name of both) if (refersTo(input[name] ?? {}, twofold)) twofold.add(name);
  }
  return twofold;
}

/**
 * Makes JSON Schemas of these, those of `input` as a caller sends it. What the contracts export by name is a component;
 * one that means something else on its way in has `Input` behind its name there.
 */
export function describeSchemas(schemas: Record<Direction, Record<string, z.ZodType>>): DescribedSchemas {
  const names = namesOfSchemas();
  const input = convert(schemas.input, "input", names);
  const output = convert(schemas.output, "output", names);
  const twofold = findTwofold(input.definitions, output.definitions);
  const renameInput = (name: string) => (twofold.has(name) ? `${name}Input` : name);
  const same = (name: string) => name;
  const components = Object.fromEntries([
    ...Object.entries(output.definitions).map(([name, schema]) => [name, withReferences(schema, same)] as const),
    ...Object.entries(input.definitions).map(
      ([name, schema]) => [renameInput(name), withReferences(schema, renameInput)] as const,
    ),
  ]) as Record<string, JsonSchema>;
  return {
    input: withReferences(input.schemas, renameInput) as Record<string, JsonSchema>,
    output: withReferences(output.schemas, same) as Record<string, JsonSchema>,
    components: Object.fromEntries(Object.entries(components).toSorted(([one], [other]) => (one < other ? -1 : 1))),
  };
}
