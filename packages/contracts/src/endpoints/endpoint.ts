import { z } from "zod";
import type { ErrorCode } from "../errors.ts";
import { LIST_LIMITS } from "../list-query.ts";
import type { RequiredScope } from "../scopes.ts";

export type HttpMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** One way in which an endpoint answers a call that it has done. */
export interface EndpointAnswer {
  status: number;
  /** When it answers so, in words. */
  when: string;
  /** Shape of the JSON; null for an answer that is no JSON or has no body. */
  schema: z.ZodType | null;
  /** Headers that it carries besides those of every answer, each with what it says. */
  headers?: Record<string, string>;
  /** Media type of an answer that is no JSON. */
  mediaType?: string;
  /** What each event's data is as JSON, where the media type is `text/event-stream`. */
  events?: Record<string, z.ZodType>;
}

/** A body that an endpoint takes. */
export interface EndpointBody {
  schema: z.ZodType;
  /** `LIMITS.bodyMaxBytes` where absent. */
  maxBytes?: number;
  /** True when the call may come without one: it then means an empty object. */
  isOptional?: boolean;
  /** What else it takes, in words, by media type: as in a form with files. */
  otherTypes?: Record<string, string>;
}

/** A call that does what the endpoint is for. Ids in paths are any; whoever sends it puts in what is there. */
export interface EndpointExample {
  query?: Record<string, string>;
  body?: unknown;
  /** What the answer looks like; it has the shape that the answer's schema says. */
  answer?: unknown;
}

/**
 * One endpoint of the HTTP API as data: routes, the check of scopes, the OpenAPI document and the typed client are made
 * from it, so that none of them can say anything else.
 */
export interface Endpoint {
  method: HttpMethod;
  /** With `{id}` for what the caller puts in. */
  path: string;
  /** Chapter of the documentation that it belongs to. */
  tag: string;
  /** What it does, in a few words. */
  summary: string;
  /** What a caller has to know besides. */
  description?: string;
  /** Null: no key is needed, or what is asked is decided otherwise. */
  scope: RequiredScope | null;
  /** A scope that the key must have besides. */
  alsoScope?: RequiredScope;
  /** True when no key is needed. */
  isPublic?: true;
  /** What stands in the braces of the path, where more is to be said than that it is an id. */
  params?: z.ZodObject;
  /** Headers of the request besides those that follow from the other fields. */
  requestHeaders?: z.ZodObject;
  /** Parameters of the query string, each optional or not as the schema says. */
  query?: z.ZodObject;
  body?: EndpointBody;
  /** True when `If-Match` with the object's `ETag` is understood; "required" when the call is refused without it. */
  ifMatch?: true | "required";
  answers: readonly EndpointAnswer[];
  /** Errors beside those that follow from the fields above. */
  errors?: readonly ErrorCode[];
  example?: EndpointExample;
}

/** What a call may bring that takes no body: nothing, or an empty object. */
export const noBodySchema = z.strictObject({});

/** The parameters that every list takes. */
export const listQuerySchema = z.object({
  limit: z.string().optional().meta({
    type: "integer",
    minimum: 1,
    maximum: LIST_LIMITS.maxItems,
    default: LIST_LIMITS.defaultItems,
    description: "Items of the page.",
  }),
  cursor: z.string().optional().describe("The `nextCursor` of the page before."),
  q: z.string().optional().meta({
    maxLength: LIST_LIMITS.searchMaxChars,
    description: "Only what has this text in its name, in any case of its letters.",
  }),
});

/** An answer whose JSON has this shape; the typed client knows it by that. */
export interface JsonAnswer<Body extends z.ZodType> extends EndpointAnswer {
  schema: Body;
}

type ItemAnswer<Item extends z.ZodType> = JsonAnswer<z.ZodObject<{ ok: z.ZodLiteral<true>; item: Item }>>;

/** Answers `{"ok":true,"item":{…}}`. */
export function itemAnswer<Item extends z.ZodType>(
  schema: Item,
  { status = 200, when = "Done.", headers }: { status?: number; when?: string; headers?: Record<string, string> } = {},
): ItemAnswer<Item> {
  const body = z.object({ ok: z.literal(true), item: schema });
  return { status, when, schema: body, ...(headers === undefined ? {} : { headers }) };
}

/** Answers 201 with what was made and where it is. */
export function createdAnswer<Item extends z.ZodType>(schema: Item): ItemAnswer<Item> {
  return itemAnswer(schema, { status: 201, when: "It was made.", headers: { Location: "Address of what was made." } });
}

/** Answers one page of a list. */
export function listAnswer<Item extends z.ZodType>(
  schema: Item,
): JsonAnswer<
  z.ZodObject<{ ok: z.ZodLiteral<true>; items: z.ZodArray<Item>; nextCursor: z.ZodNullable<z.ZodString> }>
> {
  const body = z.object({ ok: z.literal(true), items: z.array(schema), nextCursor: z.string().nullable() });
  return { status: 200, when: "One page.", schema: body };
}
