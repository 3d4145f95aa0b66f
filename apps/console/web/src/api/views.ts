import { queryOptions } from "@tanstack/react-query";
import type { SavedView, SavedViewsAnswer } from "@svc/contracts";
import type { Connection } from "./connection.ts";

const itemsOf = (answer: unknown): SavedView[] => (answer as SavedViewsAnswer).items;

/** Keeps one of one's own views, in the place of the one of the same name; answers all. */
export const putView = async (connection: Connection, view: SavedView): Promise<SavedView[]> =>
  itemsOf(await connection.send("PUT", "/session/views", { body: view }));

/** Deletes one of one's own views; answers the others. */
export const deleteView = async (connection: Connection, name: string): Promise<SavedView[]> =>
  itemsOf(await connection.send("DELETE", "/session/views", { query: { name } }));

/** One's own saved views, of all projects. `prepare` is done before they are read. */
export const viewsQuery = (connection: Connection, operatorId: string, prepare: () => Promise<void>) =>
  queryOptions({
    queryKey: ["views", operatorId],
    queryFn: async ({ signal }): Promise<SavedView[]> => {
      await prepare();
      return itemsOf(await connection.send("GET", "/session/views", { signal }));
    },
  });
