import { requireScope } from "@svc/auth";
import type { Principal } from "@svc/auth";
import {
  ADMIN_ENDPOINTS,
  ServiceError,
  checkInput,
  encodeCursor,
  invalidInput,
  listInputSchema,
  takesTarget,
} from "@svc/contracts";
import type { AdminOperation, Endpoint, FieldError, ListInput, ListPage } from "@svc/contracts";
import { QueueDownError } from "@svc/queue";
import type { Log } from "@svc/log";
import { isUuid } from "@svc/primitives";
import type { PageQuery, ProjectId, Store } from "@svc/store";
import { audited } from "./audited.ts";
import type { AuditDeps, AuditOptions } from "./audited.ts";

/** Versions of an object that a change expects, from `If-Match`; null for any version. */
export type ExpectedVersions = readonly number[] | null;

type Endpoints = typeof ADMIN_ENDPOINTS;

/** One argument for each parameter of a path such as `/kb/{id}/documents/{docId}`. */
type PathArguments<Path extends string> = Path extends `${string}{${string}}${infer Rest}`
  ? [id: string, ...PathArguments<Rest>]
  : [];

/** An object by its ID, and the versions that a change expects; any version by default. */
export interface VersionedId {
  id: string;
  versions?: ExpectedVersions;
}

/** The object of a call: its ID, the versions that a change expects, and the signal that ends the call. */
interface Target<Endpoint> {
  id: string;
  versions?: Endpoint extends { ifMatch: true | "required" } ? ExpectedVersions : never;
  signal?: Endpoint extends { isCancellable: true } ? AbortSignal : never;
}

type TargetArguments<Endpoint extends { path: string }> = Endpoint extends
  | { ifMatch: true | "required" }
  | { isCancellable: true }
  ? [target: Target<Endpoint>]
  : PathArguments<Endpoint["path"]>;

/** Query of an operation: page sizes are numbers, and lists without a search reject `q`. */
type QueryInput<Values> = Omit<Values, "limit"> &
  ("limit" extends keyof Values ? { limit?: number | undefined; q?: string | undefined } : unknown);

type InputArguments<Endpoint> = Endpoint extends { body: { schema: { _zod: { input: infer Body } } } }
  ? [input: Body]
  : Endpoint extends { query: { _zod: { input: infer Values } } }
    ? [input: QueryInput<Values>]
    : [];

/**
 * Arguments of the operation of an endpoint, after the dependencies and the principal: the path parameters, or a `Target`
 * if the endpoint has `ifMatch` or `isCancellable`; then the body or the query.
 */
export type OperationArguments<Name extends AdminOperation> = [
  ...TargetArguments<Endpoints[Name]>,
  ...InputArguments<Endpoints[Name]>,
];

type Bodies<Name extends AdminOperation> = Endpoints[Name]["answers"][number] extends infer Answer
  ? Answer extends { schema: { _zod: { output: infer Body } } }
    ? Body
    : never
  : never;

/** An item with metadata that its fields do not contain. */
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
type OperationResult<Name extends AdminOperation> = [Bodies<Name>] extends [never]
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

/** Returns the not_found of an object of this kind, such as "hook". */
export const notInProject = (kind: string): ServiceError =>
  new ServiceError("not_found", `No ${kind} with this ID exists in this project.`);

/**
 * Returns the function that reads the object with an ID in a principal's project, with the function of the store that
 * `findIn` returns. It throws not_found, also for an invalid ID.
 */
export const objectReader =
  <Row>(kind: string, findIn: (store: Store) => (project: ProjectId, id: string) => Promise<Row | null>) =>
  async (store: Store, { project }: Principal, id: string): Promise<Row> => {
    const row = isUuid(id) ? await findIn(store)(project, id) : null;
    if (row === null) throw notInProject(kind);
    return row;
  };

/** Returns the invalid_request of a name that another object of this kind has, such as "hook". */
export const nameTaken = (kind: string, name: string): ServiceError =>
  invalidInput(
    [{ pointer: "/name", code: "taken", detail: `is already used by another ${kind}: ${name}` }],
    `The ${kind}`,
  );

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

/** Options of an operation; of `audited` if it changes something. */
type OperationOptions<Name extends AdminOperation, Result> = AuditOptions<OperationArguments<Name>, Result> & {
  /** Action in the audit log. Without one, calls leave no row there. */
  audit?: string;
};

/**
 * Creates the operation of an endpoint. It checks the scope of the endpoint before anything else, and if `audit` is given,
 * each call leaves a row in the audit log (see `audited`). Its docstring repeats neither the scope nor the errors that
 * follow from the endpoint, such as not_found for an unknown ID, and invalid_request with every error of the input.
 */
export function operation<Name extends AdminOperation, Deps extends AuditDeps, Result extends OperationResult<Name>>(
  name: Name,
  run: (deps: Deps, principal: Principal, ...args: OperationArguments<Name>) => Promise<Result>,
  { audit, ...options }: OperationOptions<Name, Result> = {},
): (deps: Deps, principal: Principal, ...args: OperationArguments<Name>) => Promise<Result> {
  const scoped: typeof run = async (deps, principal, ...args) => {
    requireScopeOf(principal, name);
    return run(deps, principal, ...args);
  };
  if (audit === undefined) return scoped;
  const objectOfTarget = ([target]: OperationArguments<Name>) => (target as unknown as Target<unknown>).id;
  return audited(audit, scoped, {
    ...(takesTarget(ADMIN_ENDPOINTS[name]) && { objectOf: objectOfTarget }),
    ...options,
  });
}

/** Returns the error of a search in a list without a search, whose page would look like a result of the search. */
export function searchErrors(q: string | undefined): FieldError[] {
  return q === undefined ? [] : [{ pointer: "/q", code: "unknown_field", detail: "is not a known field" }];
}

/** How a page of a list is read. */
interface PageSource<Row, Item> {
  read: (query: PageQuery) => Promise<Row[]>;
  /** Returns the item of a row; by default the row itself. */
  asItem?: (row: Row) => Item;
  /** Errors of the input that were found before. */
  found?: readonly FieldError[];
}

/**
 * Returns a page of the list with this name. `read` reads one item more than requested, which shows whether there is
 * another page. Throws invalid_request with every error of the input.
 */
export async function readPage<Row extends { id: string }, Item = Row>(
  list: string,
  input: ListInput,
  { read, asItem = (row) => row as unknown as Item, found = [] }: PageSource<Row, Item>,
): Promise<ListPage<Item>> {
  const { limit, ...rest } = checkInput(listInputSchema(list), input, "The query", found);
  const rows = await read({ ...rest, limit: limit + 1 });
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const hasMore = rows.length > page.length && last !== undefined;
  return { items: page.map(asItem), nextCursor: hasMore ? encodeCursor(list, last.id) : null };
}

/**
 * Announces committed work. If the queue is unavailable nothing is lost, because a sweeper announces the work, so this
 * is only logged, with `facts` that name the work. Rejects with any other error.
 */
export async function leaveToSweeper(log: Log, facts: object, announce: () => Promise<void>): Promise<void> {
  try {
    await announce();
  } catch (error) {
    if (!(error instanceof QueueDownError)) throw error;
    log.debug(facts, "queue unavailable; a sweeper will announce the committed work");
  }
}
