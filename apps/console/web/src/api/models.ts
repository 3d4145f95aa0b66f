import { infiniteQueryOptions } from "@tanstack/react-query";
import { createClient } from "@svc/client";
import type { Client } from "@svc/client";
import type { Model, ModelList } from "@svc/contracts";
import type { Connection } from "./connection.ts";

/** A model of the list, by the id that all lists go by. */
export type ListedModel = Model & { id: string };

/** A page of the list of models. */
type ModelPage = Omit<ModelList, "items"> & { items: ListedModel[] };

const PAGE_LIMIT = 50;
/** So often it is looked what the servers have, and how far pulls are that somebody else follows. */
const FOLLOW_MS = 10_000;

/** The models of all servers whose ids have these words, installed ones first, page by page. Followed. */
export const modelPagesQuery = (connection: Connection, project: string, q: string) =>
  infiniteQueryOptions({
    queryKey: ["models", project, "pages", q],
    refetchInterval: FOLLOW_MS,
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }: ModelPage) => nextCursor,
    async queryFn({ pageParam, signal }): Promise<ModelPage> {
      const query = {
        limit: PAGE_LIMIT,
        ...(q === "" ? {} : { q }),
        ...(pageParam === null ? {} : { cursor: pageParam }),
      };
      const page = await connection.call("listModels", project, { query, signal });
      return { ...page, items: page.items.map((model) => ({ ...model, id: model.catalogId })) };
    },
  });

/**
 * What pulls models as whoever is signed in, and follows them: over lines that are cut, and restarts of the server. A
 * session takes the place of a key, and `csrf` proves that this page asks.
 */
export function pullerOf(project: string, csrf: string): Pick<Client, "pullModel"> {
  return createClient({
    url: location.origin,
    key: "session",
    project,
    fetch(url, init) {
      const headers = new Headers(init.headers);
      headers.delete("X-Api-Key");
      headers.set("x-svc-csrf", csrf);
      return fetch(url, { ...init, headers, credentials: "same-origin", redirect: "error", cache: "no-store" });
    },
  });
}
