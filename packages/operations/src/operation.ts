import { requireScope } from "@svc/auth";
import type { Principal } from "@svc/auth";
import { ADMIN_ENDPOINTS, ServiceError } from "@svc/contracts";
import type { AdminOperation, Endpoint } from "@svc/contracts";

/** Versions of an object that a change expects, from `If-Match`; null for any version. */
export type ExpectedVersions = readonly number[] | null;

type Endpoints = typeof ADMIN_ENDPOINTS;

/** One argument for each parameter of a path such as `/kb/{id}/documents/{docId}`. */
type PathArguments<Path extends string> = Path extends `${string}{${string}}${infer Rest}`
  ? [id: string, ...PathArguments<Rest>]
  : [];

/** A query as operations take it: page sizes are numbers. */
type QueryInput<Values> = Omit<Values, "limit"> & ("limit" extends keyof Values ? { limit?: number } : unknown);

type InputArguments<Endpoint> = Endpoint extends { body: { schema: { _zod: { input: infer Body } } } }
  ? [input: Body]
  : Endpoint extends { query: { _zod: { input: infer Values } } }
    ? [input: QueryInput<Values>]
    : [];

type VersionArguments<Endpoint> = Endpoint extends { ifMatch: true | "required" } ? [versions: ExpectedVersions] : [];

type OptionArguments<Endpoint> = Endpoint extends { isCancellable: true } ? [options: { signal: AbortSignal }] : [];

/**
 * Arguments of the operation of an endpoint, after the dependencies and the principal: the path parameters, the body or
 * the query, the expected versions, and `{ signal }` if the operation is cancellable.
 */
export type OperationArguments<Name extends AdminOperation> = [
  ...PathArguments<Endpoints[Name]["path"]>,
  ...InputArguments<Endpoints[Name]>,
  ...VersionArguments<Endpoints[Name]>,
  ...OptionArguments<Endpoints[Name]>,
];

type Bodies<Name extends AdminOperation> = Endpoints[Name]["answers"][number] extends infer Answer
  ? Answer extends { schema: { _zod: { output: infer Body } } }
    ? Body
    : never
  : never;

/** An item with facts that do not follow from its fields. */
export interface ItemResult<Item> {
  item: Item;
  /** Version for the `ETag`, if it is not the item's own. */
  version?: number;
  /** False if the object existed before. */
  isNew?: boolean;
}

/**
 * Result of the operation of an endpoint: the item, or its JSON in pieces; the page or list; a file; or the fields of the
 * response.
 */
export type OperationResult<Name extends AdminOperation> = [Bodies<Name>] extends [never]
  ? { filename: string; content: Buffer }
  : Bodies<Name> extends { item: infer Item }
    ? Item | ItemResult<Item> | { itemJson: AsyncIterable<string> }
    : Bodies<Name> extends { items: infer Items }
      ? Items | Omit<Bodies<Name>, "ok">
      : Omit<Bodies<Name>, "ok">;

/** The operation of an endpoint. */
export type OperationOf<Name extends AdminOperation, Deps> = (
  deps: Deps,
  principal: Principal,
  ...args: OperationArguments<Name>
) => Promise<OperationResult<Name>>;

/** Returns the version_conflict of an object with another version, with its `ETag`. Its text starts with `what`. */
export function staleVersion(what: string, version: number): ServiceError {
  return new ServiceError(
    "version_conflict",
    `${what} has changed; its current version is ${version}. Fetch it again.`,
    {
      headers: { ETag: `"${version}"` },
    },
  );
}

/**
 * Throws insufficient_scope if the principal lacks a scope of the endpoint that this operation implements. Operations
 * call it first, because the command line, the console and the tool server call them too, not only the endpoint.
 */
export function requireScopeOf(principal: Principal, operation: AdminOperation): void {
  const { scope, alsoScope }: Endpoint = ADMIN_ENDPOINTS[operation];
  if (scope !== null) requireScope(principal, scope);
  if (alsoScope !== undefined) requireScope(principal, alsoScope);
}
