import { queryOptions } from "@tanstack/react-query";
import type { CallOutput } from "@svc/client";
import type { KeyItem, Scope } from "@svc/contracts";
import type { Connection } from "./connection.ts";

/** A key just made: the only time that it is shown. */
export type NewKey = CallOutput<"createKey">["item"];

/** As many as the server gives at once. */
const LIMIT = 200;

/** The keys of all projects, newest first. For administrators. */
export const keysQuery = (connection: Connection) =>
  queryOptions({
    queryKey: ["keys"],
    queryFn: async ({ signal }): Promise<KeyItem[]> =>
      (await connection.call("listKeys", null, { query: { limit: LIMIT }, signal })).items,
  });

/** Makes a key of a project. */
export async function createKey(
  connection: Connection,
  input: { name: string; scopes: readonly Scope[]; project: string },
): Promise<NewKey> {
  return (await connection.call("createKey", null, { body: { ...input, scopes: [...input.scopes] } })).item;
}

/** Ends a key on every replica within a second. */
export async function revokeKey(connection: Connection, id: string): Promise<KeyItem> {
  return (await connection.call("revokeKey", null, { params: { id } })).item;
}
