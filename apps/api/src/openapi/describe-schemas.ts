import * as contracts from "@svc/contracts";
import { z } from "zod";
import type { JsonSchema } from "./openapi-document.ts";

/** Whether a schema describes input, before defaults and transforms, or output. */
type Direction = "input" | "output";

/** JSON Schemas of requests and responses, and the named ones among them. */
export interface DescribedSchemas {
  /** By the given keys. */
  input: Record<string, JsonSchema>;
  output: Record<string, JsonSchema>;
  /** Schemas that others refer to as `#/components/schemas/<name>`. */
  components: Record<string, JsonSchema>;
}

const DEFINITIONS = "#/$defs/";
const COMPONENTS = "#/components/schemas/";
/** Formats that make the pattern which zod adds redundant. */
const PATTERN_FORMATS = new Set(["uuid", "date-time", "email"]);

/** Returns the names of the schemas that the contracts export: those of their types. */
function namesOfSchemas(): Map<z.ZodType, string> {
  const named = Object.entries(contracts).flatMap(([name, value]): [z.ZodType, string][] =>
    name.endsWith("Schema") && value instanceof z.ZodType
      ? [[value, `${name.charAt(0).toUpperCase()}${name.slice(1, -"Schema".length)}`]]
      : [],
  );
  return new Map(named);
}

/** Returns the registry in which zod finds names and descriptions: the exports and the metadata of the schemas. */
function metadataOf(names: ReadonlyMap<unknown, string>): typeof z.globalRegistry {
  const registry = z.registry<z.core.GlobalMeta>();
  return Object.assign(registry, {
    get(schema: z.core.$ZodType) {
      const own = z.globalRegistry.get(schema);
      const id = names.get(schema);
      return id === undefined ? own : { ...own, id };
    },
  });
}

/** Removes redundant keywords, and those that would forbid additional fields in responses. */
function tidy({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodType; jsonSchema: JsonSchema }): void {
  const { def } = zodSchema._zod;
  // Only strict objects reject unknown fields; clients ignore unknown fields of responses.
  if (def.type === "object" && !("catchall" in def && def.catchall !== undefined)) {
    delete jsonSchema.additionalProperties;
  }
  // A number in a query is a string with a pattern; it is described as a number.
  if (jsonSchema.type === "integer") delete jsonSchema["pattern"];
  if (typeof jsonSchema["format"] === "string" && PATTERN_FORMATS.has(jsonSchema["format"])) {
    delete jsonSchema["pattern"];
  }
  // `contentEncoding` is enough; JSON Schema has no format base64.
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

/** Converts all schemas of one direction at once, so that each named one occurs once. */
function convert(schemas: Record<string, z.ZodType>, io: Direction, names: ReadonlyMap<z.ZodType, string>): Converted {
  const { properties = {}, $defs = {} } = z.toJSONSchema(z.object(schemas), {
    io,
    target: "draft-2020-12",
    metadata: metadataOf(names),
    // Custom checks are described in the schema's metadata.
    unrepresentable: "any",
    override: tidy as (context: { zodSchema: z.core.$ZodTypes; jsonSchema: z.core.JSONSchema.BaseSchema }) => void,
  });
  // Separate copies, since zod shares objects.
  return structuredClone({ schemas: properties, definitions: $defs }) as Converted;
}

/** Returns a copy with renamed references. */
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

/** Returns the names whose input schema differs from their output schema. */
function findDiffering(input: Record<string, JsonSchema>, output: Record<string, JsonSchema>): Set<string> {
  const both = Object.keys(input).filter((name) => name in output);
  const differing = new Set(both.filter((name) => JSON.stringify(input[name]) !== JSON.stringify(output[name])));
  for (let size = -1; size !== differing.size;) {
    size = differing.size;
    for (const name of both) if (refersTo(input[name] ?? {}, differing)) differing.add(name);
  }
  return differing;
}

/**
 * Converts these schemas to JSON Schemas. Those that the contracts export are components; one whose input schema differs
 * from its output schema has a second component with the suffix `Input`.
 */
export function describeSchemas(schemas: Record<Direction, Record<string, z.ZodType>>): DescribedSchemas {
  const names = namesOfSchemas();
  const input = convert(schemas.input, "input", names);
  const output = convert(schemas.output, "output", names);
  const differing = findDiffering(input.definitions, output.definitions);
  const renameInput = (name: string) => (differing.has(name) ? `${name}Input` : name);
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
