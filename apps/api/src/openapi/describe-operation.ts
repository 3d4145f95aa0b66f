import { ERRORS, LIMITS } from "@svc/contracts";
import type { Endpoint, EndpointAnswer, ErrorCode } from "@svc/contracts";
import { describeErrors, errorsOf, explainErrors, nameOfErrors, problemContent } from "./describe-schemas.ts";
import type { DescribedSchemas } from "./describe-schemas.ts";
import { headerRefs, parameterRef } from "./openapi-document.ts";
import { makeExample } from "./examples.ts";
import type {
  Header,
  JsonSchema,
  MediaType,
  OperationObject,
  Parameter,
  Reference,
  RequestBody,
  ResponseObject,
} from "./openapi-document.ts";

/** The keys under which the schemas of an endpoint are described. */
export const schemaKeys = {
  body: (name: string) => `${name} body`,
  query: (name: string) => `${name} query`,
  params: (name: string) => `${name} params`,
  headers: (name: string) => `${name} headers`,
  answer: (name: string, index: number) => `${name} answer ${index}`,
  event: (name: string, event: string) => `${name} event ${event}`,
};

/** Returns the target of a reference, or the schema itself. */
function targetOf(schema: JsonSchema | undefined, { components }: DescribedSchemas): JsonSchema | undefined {
  return schema?.$ref === undefined ? schema : components[schema.$ref.split("/").at(-1) ?? ""];
}

const SCHEMES: Record<string, string[]>[] = [{ bearer: [] }, { apiKey: [] }];

/** Nouns that differ from their path segments. */
const NOUNS: Record<string, string> = { kb: "knowledge base" };

/** Returns the singular noun of the segment before an id: "canned reply" for `canned-replies`. */
function nounBefore(path: string, name: string): string {
  const segment = /([\w-]+)\/$/.exec(path.slice(0, path.indexOf(`{${name}}`)))?.[1] ?? "object";
  return NOUNS[segment] ?? segment.replaceAll("-", " ").replace(/ies$/, "y").replace(/s$/, "");
}

/**
 * Returns the parameters of an object schema. Optional ones have only the endpoint's own examples: readers of the
 * description send parameters that have one.
 */
function parametersIn(
  position: "path" | "query" | "header",
  schema: JsonSchema | undefined,
  examples: Record<string, string> = {},
): Parameter[] {
  return Object.entries(schema?.properties ?? {})
    .filter(([, { not }]) => JSON.stringify(not) !== "{}")
    .map(([name, { description, examples: generated, ...rest }]) => {
      const required = position === "path" || (schema?.required ?? []).includes(name);
      return {
        name,
        in: position,
        required,
        ...(description === undefined ? {} : { description }),
        schema: required && generated !== undefined ? { ...rest, examples: generated } : rest,
        ...(examples[name] === undefined ? {} : { example: typedExample(rest, examples[name]) }),
      };
    });
}

/** Returns a parameter's example with the type of its schema: an integer is written as text in a query. */
const typedExample = ({ type }: JsonSchema, text: string) => (type === "integer" ? Number(text) : text);

function describeParameters(name: string, endpoint: Endpoint, schemas: DescribedSchemas): (Parameter | Reference)[] {
  const find = (key: string) => targetOf(schemas.input[key], schemas);
  const described = parametersIn("path", find(schemaKeys.params(name)));
  const inPath = [...endpoint.path.matchAll(/\{(\w+)\}/g)].map(
    ([, id = ""]): Parameter =>
      described.find((parameter) => parameter.name === id) ?? {
        name: id,
        in: "path",
        required: true,
        description: `ID of the ${nounBefore(endpoint.path, id)}.`,
        schema: { type: "string" },
      },
  );
  return [
    ...inPath,
    ...parametersIn("query", find(schemaKeys.query(name)), endpoint.example?.query),
    ...parametersIn("header", find(schemaKeys.headers(name))),
    ...(endpoint.ifMatch === undefined
      ? []
      : [parameterRef(endpoint.ifMatch === "required" ? "RequiredIfMatch" : "IfMatch")]),
    ...(endpoint.isPublic === true ? [] : [parameterRef("Project")]),
  ];
}

/** Returns a size with its unit. */
const sizeInWords = (bytes: number) => (bytes >= 1024 ** 2 ? `${bytes / 1024 ** 2} MB` : `${bytes / 1024} KB`);

function describeBody(name: string, endpoint: Endpoint, { input }: DescribedSchemas): RequestBody | null {
  const { body, example } = endpoint;
  if (body === undefined) return null;
  const { maxBytes = LIMITS.bodyMaxBytes, isOptional = false, otherTypes = {} } = body;
  const json: MediaType = {
    schema: input[schemaKeys.body(name)] ?? {},
    ...(example?.body === undefined ? {} : { examples: { default: { value: example.body } } }),
  };
  const others = Object.entries(otherTypes).map(([type, description]): [string, MediaType] => [
    type,
    { schema: { description, ...(type === "multipart/form-data" ? { type: "object" } : {}) } },
  ]);
  return {
    description: `JSON of at most ${sizeInWords(maxBytes)}.`,
    required: !isOptional,
    content: { "application/json": json, ...Object.fromEntries(others) },
  };
}

/** Returns true if a response has an object with a version, which is also its `ETag`. */
function hasVersion(schema: JsonSchema | undefined, schemas: DescribedSchemas): boolean {
  return targetOf(schema?.properties?.["item"], schemas)?.properties?.["version"] !== undefined;
}

/** Headers that not every response of their kind has. */
const OCCASIONAL_HEADERS = new Set(["Idempotent-Replayed"]);

/** Describes the headers of an endpoint; required if all responses with this status have them. */
const describedHeaders = (headers: Record<string, string>, isOnly: boolean): Record<string, Header> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [
      name,
      {
        description,
        ...(isOnly && !OCCASIONAL_HEADERS.has(name) ? { required: true } : {}),
        schema: { type: name === "Retry-After" ? "integer" : "string" },
      },
    ]),
  );

/**
 * Describes a body that is not JSON; an event stream with the data of each event, without references, since tools do not
 * follow them in an extension.
 */
function describeText(name: string, { mediaType = "", events }: EndpointAnswer, schemas: DescribedSchemas): JsonSchema {
  if (events === undefined) return { type: "string" };
  const described = Object.keys(events).map((event) => ({
    type: "object",
    required: ["event", "data"],
    properties: {
      event: { const: event },
      data: targetOf(schemas.output[schemaKeys.event(name, event)], schemas) ?? {},
    },
  }));
  return { type: "string", contentMediaType: mediaType, contentSchema: { anyOf: described } };
}

type Contents = Required<Pick<ResponseObject, "content">> & Pick<ResponseObject, "x-event-stream">;

const EVENT_STREAM = "text/event-stream";

/**
 * Returns the media types of the responses with one status: one of their JSON schemas. An event stream next to JSON is
 * separate, since a generated client would get a type that is either an object or a string.
 */
function contentOf(
  name: string,
  answers: readonly [index: number, answer: EndpointAnswer][],
  endpoint: Endpoint,
  described: DescribedSchemas,
): Contents {
  const { output, components } = described;
  const schemas = answers
    .filter(([, { schema }]) => schema !== null)
    .map(([index]) => output[schemaKeys.answer(name, index)] ?? {});
  const [only] = schemas;
  const isFirst = answers.some(([index]) => index === 0);
  const example = isFirst ? endpoint.example?.answer : undefined;
  const answer = example ?? (only === undefined ? undefined : makeExample(only, components));
  const texts: Record<string, MediaType> = Object.fromEntries(
    answers.flatMap(([, answered]) =>
      answered.mediaType === undefined
        ? []
        : [[answered.mediaType, { schema: describeText(name, answered, described) }]],
    ),
  );
  if (only === undefined) return { content: texts };
  const { [EVENT_STREAM]: stream, ...others } = texts;
  const json: MediaType = {
    schema: schemas.length === 1 ? only : { anyOf: schemas },
    ...(answer === undefined ? {} : { examples: { default: { value: answer } } }),
  };
  return {
    content: { "application/json": json, ...others },
    ...(stream === undefined ? {} : { "x-event-stream": stream }),
  };
}

function describeAnswers(
  name: string,
  answers: readonly [index: number, answer: EndpointAnswer][],
  endpoint: Endpoint,
  schemas: DescribedSchemas,
): ResponseObject {
  const { content, ...stream } = contentOf(name, answers, endpoint, schemas);
  const isKeyed = endpoint.isPublic !== true;
  const isCounted = isKeyed || endpoint.errors?.includes("rate_limited") === true;
  const isVersioned =
    endpoint.method !== "DELETE" &&
    answers.some(([index]) => hasVersion(schemas.output[schemaKeys.answer(name, index)], schemas));
  return {
    description: answers.map(([, { when }]) => when).join("\n\n"),
    headers: {
      ...headerRefs(["X-Request-Id"]),
      ...(isCounted ? headerRefs(["RateLimit", "RateLimit-Policy"]) : {}),
      ...(isKeyed ? headerRefs(["x-svc-project"]) : {}),
      ...(isVersioned ? headerRefs(["ETag"]) : {}),
      ...Object.assign({}, ...answers.map(([, { headers = {} }]) => describedHeaders(headers, answers.length === 1))),
    },
    ...(Object.keys(content).length === 0 ? {} : { content }),
    ...stream,
  };
}

const groupByStatus = <Item>(items: readonly Item[], statusOf: (item: Item) => number): Map<number, Item[]> => {
  const groups = new Map<number, Item[]>();
  for (const item of items) groups.set(statusOf(item), [...(groups.get(statusOf(item)) ?? []), item]);
  return groups;
};

/** An operation, and the error responses that it refers to, by their names. */
export interface DescribedOperation {
  operation: OperationObject;
  errorAnswers: Record<string, ResponseObject>;
}

/** Describes the parameters, body and responses of an endpoint as an OpenAPI operation. */
export function describeOperation(name: string, endpoint: Endpoint, schemas: DescribedSchemas): DescribedOperation {
  const { summary, description, tag, scope, alsoScope, isPublic = false } = endpoint;
  const answers = groupByStatus([...endpoint.answers.entries()], ([, { status }]) => status);
  const errors = groupByStatus(errorsOf(endpoint), (code: ErrorCode) => ERRORS[code].status);
  const errorAnswers: Record<string, ResponseObject> = {};
  const responses: Record<string, ResponseObject | Reference> = {};
  for (const [status, same] of answers) {
    const codes = errors.get(status) ?? [];
    const answer = describeAnswers(name, same, endpoint, schemas);
    responses[status] =
      codes.length === 0
        ? answer
        : {
            ...answer,
            description: `${answer.description}\n\n${explainErrors(codes)}`,
            content: { ...answer.content, ...problemContent(codes) },
          };
  }
  for (const [status, codes] of errors) {
    if (answers.has(status)) continue;
    const answerName = nameOfErrors(codes);
    errorAnswers[answerName] = describeErrors(codes);
    responses[status] = { $ref: `#/components/responses/${answerName}` };
  }
  const needed = [scope, alsoScope].filter((one) => one != null).map((one) => `\`${one}\``);
  const needs =
    needed.length === 0 ? [] : [`Requires the scope${needed.length > 1 ? "s" : ""} ${needed.join(" and ")}.`];
  const words = [description, ...needs].filter((part) => part !== undefined).join("\n\n");
  const parameters = describeParameters(name, endpoint, schemas);
  const requestBody = describeBody(name, endpoint, schemas);
  return {
    operation: {
      operationId: name,
      tags: [tag],
      summary,
      ...(words === "" ? {} : { description: words }),
      security: isPublic ? [] : SCHEMES,
      ...(isPublic ? {} : { "x-required-scope": scope }),
      ...(parameters.length === 0 ? {} : { parameters }),
      ...(requestBody === null ? {} : { requestBody }),
      responses,
    },
    errorAnswers,
  };
}
