import type { ENDPOINTS } from "@svc/contracts";
import type { OPERATIONS } from "./operations.ts";
import type { Query } from "./try-call.ts";

type Endpoints = typeof ENDPOINTS;

/** Names of the operations for `Client.call`, as in the OpenAPI document. */
export type OperationName = Extract<keyof Endpoints, keyof typeof OPERATIONS>;

/** Input and output type of a schema. */
interface SchemaTypes {
  _zod: { input: unknown; output: unknown };
}

type ParamName<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamName<Rest>
  : never;

type ParamsPart<Path extends string> = [ParamName<Path>] extends [never]
  ? unknown
  : { params: Record<ParamName<Path>, string> };

/** Query parameters are strings; numeric ones can also be given as numbers. */
type QueryValues<Values> = {
  [Name in keyof Values]: string extends Values[Name] ? Values[Name] | number : Values[Name];
};

type QueryPart<Endpoint> = Endpoint extends { query: { _zod: { input: infer Values } } }
  ? Partial<Values> extends Values
    ? { query?: QueryValues<Values> }
    : { query: QueryValues<Values> }
  : unknown;

type BodyPart<Endpoint> = Endpoint extends { body: { schema: SchemaTypes } & (infer Body) }
  ? Body extends { isOptional: true }
    ? { body?: Endpoint["body"]["schema"]["_zod"]["input"] }
    : Body extends { otherTypes: object }
      ? { body: Endpoint["body"]["schema"]["_zod"]["input"] } | { form: FormData }
      : { body: Endpoint["body"]["schema"]["_zod"]["input"] }
  : unknown;

/** A version number, or an `ETag`. */
type IfMatchPart<Endpoint> = Endpoint extends { ifMatch: "required" }
  ? { ifMatch: number | string }
  : Endpoint extends { ifMatch: true }
    ? { ifMatch?: number | string }
    : unknown;

/** Input of an operation. */
export type CallInput<Name extends OperationName> = ParamsPart<Endpoints[Name]["path"]> &
  QueryPart<Endpoints[Name]> &
  BodyPart<Endpoints[Name]> &
  IfMatchPart<Endpoints[Name]> & { signal?: AbortSignal };

/** Optional if no field of the input is required. */
export type CallArguments<Name extends OperationName> =
  Partial<CallInput<Name>> extends CallInput<Name> ? [input?: CallInput<Name>] : [input: CallInput<Name>];

/** JSON output of an operation. */
export type CallOutput<Name extends OperationName> = Endpoints[Name]["answers"][number] extends { schema: infer Schema }
  ? Schema extends { _zod: { output: infer Output } }
    ? Output
    : null
  : never;

/** The same input without specific types. */
export interface LooseInput {
  params?: Readonly<Record<string, string>>;
  query?: Query;
  body?: unknown;
  form?: FormData;
  ifMatch?: number | string;
  signal?: AbortSignal;
}
