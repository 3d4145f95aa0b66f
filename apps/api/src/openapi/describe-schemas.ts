import { z } from "zod";
import * as contracts from "@svc/contracts";
import { ERRORS } from "@svc/contracts";
import type { Endpoint, ErrorCode, Problem } from "@svc/contracts";
import { headerRefs } from "./openapi-document.ts";
import type { ExampleValue, HeaderName, JsonSchema, MediaType, ResponseObject } from "./openapi-document.ts";

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

const ALL_CODES = Object.keys(ERRORS) as ErrorCode[];
const HEADERS_OF_ALL: HeaderName[] = ["X-Request-Id", "RateLimit", "RateLimit-Policy"];

/** Additional headers of errors. */
const HEADERS_OF: Partial<Record<ErrorCode, HeaderName[]>> = {
  missing_key: ["WWW-Authenticate"],
  invalid_key: ["WWW-Authenticate"],
  insufficient_scope: ["WWW-Authenticate"],
  invalid_signature: ["WWW-Authenticate"],
  method_not_allowed: ["Allow"],
  idempotency_in_progress: ["Retry-After"],
  version_conflict: ["ETag"],
  rate_limited: ["Retry-After"],
  channel_disabled: ["Retry-After"],
  busy: ["Retry-After"],
  unavailable: ["Retry-After"],
};

const PROBLEMS = [{ pointer: "/text", code: "too_short", detail: "must not be empty or only whitespace" }];

function exampleOf(code: ErrorCode): Problem {
  const { title, status, when } = ERRORS[code];
  return {
    ok: false,
    type: `urn:svc:error:${code}`,
    title,
    status,
    code,
    detail: when,
    instance: "/api/v1/messages",
    requestId: "01a1fe7b-4312-7362-b590-0b7f11541fa3",
    ...(code === "invalid_request" ? { errors: PROBLEMS } : {}),
  };
}

/** Returns one example of each error, by its code. */
export function describeProblems(): Record<string, ExampleValue> {
  return Object.fromEntries(ALL_CODES.map((code) => [code, { summary: ERRORS[code].title, value: exampleOf(code) }]));
}

/** Returns the name of the response with one of these errors: `MissingKeyOrInvalidKey`. */
export function nameOfErrors(codes: readonly ErrorCode[]): string {
  const words = codes.map((code) => code.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase()));
  return words.join("Or");
}

/** Returns what each of these errors means and how to fix the request. */
export const explainErrors = (codes: readonly ErrorCode[]) =>
  codes.map((code) => `\`${code}\`: ${ERRORS[code].when} ${ERRORS[code].fix}`).join("\n\n");

/** Returns the content of a response with one of these errors. */
export function problemContent(codes: readonly ErrorCode[]): Record<string, MediaType> {
  return {
    "application/problem+json": {
      schema: { $ref: "#/components/schemas/Problem" },
      examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
    },
  };
}

/** Returns the response with one of these errors, which have the same status. */
export function describeErrors(codes: readonly ErrorCode[]): ResponseObject {
  const headers = new Set<HeaderName>([...HEADERS_OF_ALL, ...codes.flatMap((code) => HEADERS_OF[code] ?? [])]);
  return { description: explainErrors(codes), headers: headerRefs([...headers]), content: problemContent(codes) };
}

/** Returns every error that an endpoint can return: those that follow from its parts, and those that it names. */
export function errorsOf(endpoint: Endpoint): ErrorCode[] {
  const { isPublic = false, scope, path, query, params, requestHeaders, body, ifMatch, errors = [] } = endpoint;
  const hasIds = path.includes("{");
  const readsRequest = [query, params, requestHeaders, body, ifMatch].some((part) => part !== undefined);
  const found: [isPossible: boolean, codes: ErrorCode[]][] = [
    [true, ["internal"]],
    [!isPublic, ["missing_key", "invalid_key", "ambiguous_credentials", "project_mismatch", "rate_limited"]],
    // An administrator can name an unknown project.
    [!isPublic || hasIds, ["not_found", "busy", "unavailable"]],
    [scope !== null, ["insufficient_scope"]],
    [!isPublic && (hasIds || readsRequest), ["invalid_request"]],
    [body !== undefined, ["invalid_json", "invalid_request", "payload_too_large", "unsupported_media_type"]],
    [ifMatch !== undefined, ["version_conflict"]],
    // An endpoint without input can still be called with another method.
    [isPublic && !hasIds, ["method_not_allowed"]],
    [true, [...errors]],
  ];
  const possible = new Set(found.flatMap(([isPossible, codes]) => (isPossible ? codes : [])));
  // In the order of the catalogue.
  return ALL_CODES.filter((code) => possible.has(code));
}
