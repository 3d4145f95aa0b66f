import { z } from "zod";
import type { ErrorCode } from "./errors.ts";
import { LIST_LIMITS } from "./list-query.ts";

export const SCOPE_RESOURCES = [
  "messages",
  "agents",
  "kb",
  "models",
  "tickets",
  "channels",
  "webhooks",
  "audit",
  "privacy",
] as const;
export const SCOPE_ACTIONS = ["read", "write", "execute"] as const;

type Resource = (typeof SCOPE_RESOURCES)[number];
type Action = (typeof SCOPE_ACTIONS)[number];

/** Scope required by an operation: one action on one resource, or administrator rights. */
export type RequiredScope = `${Resource}:${Action}` | "admin:*";
/** Scope granted to a key: also every action on a resource. */
export type Scope = RequiredScope | `${Resource}:*`;

const SCOPES: ReadonlySet<string> = new Set([
  "admin:*",
  ...SCOPE_RESOURCES.flatMap((resource) => [...SCOPE_ACTIONS, "*"].map((action) => `${resource}:${action}`)),
]);

/** JSON Schema of a scope, which zod cannot derive. */
export const SCOPE_JSON_SCHEMA = { type: "string", enum: [...SCOPES] } as const;

/** A scope: `admin:*` or `resource:action`, where `action` can be `*`. */
export const scopeSchema = z
  .custom<Scope>((value) => typeof value === "string" && SCOPES.has(value), { error: "is not a valid scope" })
  .meta(SCOPE_JSON_SCHEMA);

/**
 * Returns true if the granted scopes include the required one. `write` does not imply `read`; `admin:*` includes all
 * scopes.
 */
export function grantsScope(granted: readonly string[], required: RequiredScope): boolean {
  if (granted.includes("admin:*") || granted.includes(required)) return true;
  const [resource] = required.split(":");
  return required !== "admin:*" && granted.includes(`${resource}:*`);
}

export type HttpMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** A successful response of an endpoint. */
export interface EndpointAnswer {
  status: number;
  /** Condition of this response, in words. */
  when: string;
  /** Schema of the JSON body. Null for a response that is not JSON or has no body. */
  schema: z.ZodType | null;
  /** Template of the `Location` of a created object, instead of the endpoint's path with the object's ID: `{fileId}` is a field of the object or a path parameter. */
  location?: string;
  /** Response headers in addition to those of every response, each with a description. */
  headers?: Record<string, string>;
  /** Media type of a response that is not JSON. */
  mediaType?: string;
  /** Schema of the JSON data of each event, if the media type is `text/event-stream`. */
  events?: Record<string, z.ZodType>;
}

/** Request body of an endpoint. */
export interface EndpointBody {
  schema: z.ZodType;
  /** Defaults to `LIMITS.bodyMaxBytes`. */
  maxBytes?: number;
  /** True if the body can be omitted; it then defaults to an empty object. */
  isOptional?: boolean;
  /** Other accepted media types, each with a description, such as a form with files. */
  otherTypes?: Record<string, string>;
}

/** An example request. IDs in paths are placeholders. */
export interface EndpointExample {
  query?: Record<string, string>;
  body?: unknown;
  /** Example response; conforms to the response schema. */
  answer?: unknown;
}

/**
 * An endpoint of the HTTP API as data. Routes, scope checks, the OpenAPI document and the typed client are generated
 * from it, so that they cannot diverge.
 */
export interface Endpoint {
  method: HttpMethod;
  /** Path with `{id}` for path parameters. */
  path: string;
  /** Tag in the documentation. */
  tag: string;
  /** Summary of the operation. */
  summary: string;
  /** Additional information for callers. */
  description?: string;
  /** Null: no key is required, or authorization is decided elsewhere. */
  scope: RequiredScope | null;
  /** Additional scope that the key needs. */
  alsoScope?: RequiredScope;
  /** True if no key is required. */
  isPublic?: true;
  /** Descriptions of path parameters that are more than an ID. */
  params?: z.ZodObject;
  /** Additional request headers, besides those that follow from the other fields. */
  requestHeaders?: z.ZodObject;
  /** Query parameters. The schema says whether they are optional. */
  query?: z.ZodObject;
  body?: EndpointBody;
  /** True if `If-Match` with the object's `ETag` is supported; "required" if the request is rejected without it. */
  ifMatch?: true | "required";
  /** True if the operation stops when the client disconnects. It receives `{ signal }` as its last argument. */
  isCancellable?: true;
  answers: readonly EndpointAnswer[];
  /** Additional errors, besides those that follow from the other fields. */
  errors?: readonly ErrorCode[];
  example?: EndpointExample;
}

/** First fields of an endpoint. */
interface RouteFields<
  Tag extends string,
  Base extends string,
  Route extends string,
  Scope extends RequiredScope | null,
> {
  method: Route extends `${infer Method extends HttpMethod} ${string}` ? Method : Route;
  path: Route extends `${string} ${infer Rest}` ? `${Base}${Rest}` : Base;
  tag: Tag;
  scope: Scope;
  summary: string;
}

/**
 * Returns a function that returns the first fields of the endpoints with this tag: `route("GET /{id}", "kb:read", "Get
 * a knowledge base")` has the path `/{id}` below `base`, requires the scope, and has the summary.
 */
export const routesAt =
  <const Tag extends string, const Base extends string>(tag: Tag, base: Base) =>
  <const Route extends HttpMethod | `${HttpMethod} /${string}`, const Scope extends RequiredScope | null>(
    route: Route,
    scope: Scope,
    summary: string,
  ): RouteFields<Tag, Base, Route, Scope> => {
    const [method, path = ""] = route.split(" ");
    return { method, path: `${base}${path}`, tag, scope, summary } as RouteFields<Tag, Base, Route, Scope>;
  };

/** Body of a request that has none: nothing, or an empty object. */
export const noBodySchema = z.strictObject({});

/** Query parameters of every list. */
export const listQuery = z.object({
  limit: z.string().optional().meta({
    type: "integer",
    minimum: 1,
    maximum: LIST_LIMITS.maxItems,
    default: LIST_LIMITS.defaultItems,
    description: "Maximum number of items per page.",
  }),
  cursor: z.string().optional().describe("The `nextCursor` of the previous page."),
  q: z.string().optional().meta({
    maxLength: LIST_LIMITS.searchMaxChars,
    description: "Filters by a text in the name, case-insensitive.",
  }),
});

/** Returns a JSON response with this schema. The typed client infers its type from it. */
export interface JsonAnswer<Body extends z.ZodType> extends EndpointAnswer {
  schema: Body;
}

type ItemAnswer<Item extends z.ZodType> = JsonAnswer<z.ZodObject<{ ok: z.ZodLiteral<true>; item: Item }>>;

/** Returns the response `{"ok":true,"item":{…}}`. */
export function itemAnswer<Item extends z.ZodType>(
  schema: Item,
  {
    status = 200,
    when = "Success.",
    headers,
  }: { status?: number; when?: string; headers?: Record<string, string> } = {},
): ItemAnswer<Item> {
  const body = z.object({ ok: z.literal(true), item: schema });
  return { status, when, schema: body, ...(headers === undefined ? {} : { headers }) };
}

/** Returns the response 201 with the created object and its location. */
export function createdAnswer<Item extends z.ZodType>(schema: Item, location?: string): ItemAnswer<Item> {
  const headers = { Location: "Path of the created object." };
  return { ...itemAnswer(schema, { status: 201, when: "Created.", headers }), ...(location && { location }) };
}

/** Returns the response with one page of a list. */
export function listAnswer<Item extends z.ZodType>(
  schema: Item,
): JsonAnswer<
  z.ZodObject<{ ok: z.ZodLiteral<true>; items: z.ZodArray<Item>; nextCursor: z.ZodNullable<z.ZodString> }>
> {
  const body = z.object({ ok: z.literal(true), items: z.array(schema), nextCursor: z.string().nullable() });
  return { status: 200, when: "One page.", schema: body };
}

/** Returns true if the operation of an endpoint takes a `Target` instead of the path parameters. */
export const takesTarget = ({ ifMatch, isCancellable }: Endpoint): boolean =>
  ifMatch !== undefined || isCancellable === true;

/** Names of the path parameters of an endpoint, in their order. */
export function pathParameters({ path }: Pick<Endpoint, "path">): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
}

/** A query parameter of an endpoint. */
export interface QueryParameter {
  name: string;
  isInteger: boolean;
  isOptional: boolean;
}

/** Returns the query parameters of an endpoint. */
export function queryParameters({ query }: Pick<Endpoint, "query">): QueryParameter[] {
  return Object.entries<z.ZodType>(query?.shape ?? {}).map(([name, schema]) => ({
    name,
    isInteger: schema.meta()?.["type"] === "integer",
    isOptional: schema.safeParse(undefined).success,
  }));
}

/** Returns true if the JSON of the response is an object with this field. */
export function hasField({ schema }: EndpointAnswer, name: string): boolean {
  return schema instanceof z.ZodObject && Object.hasOwn(schema.shape, name);
}
