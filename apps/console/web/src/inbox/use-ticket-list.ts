import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import type { InfiniteData } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo } from "react";
import type { TicketItem } from "@svc/contracts";
import { useServices } from "../app/services.ts";
import { followList } from "./follow-list.ts";
import type { TicketQuery } from "./inbox-search.ts";
import { nameOfQuery } from "./name-of-query.ts";
import { mergeHead } from "./merge-head.ts";
import type { TicketPage } from "./merge-head.ts";

const PAGE_ITEMS = 100;

type Pages = InfiniteData<TicketPage, string | null>;

const EMPTY: TicketItem[] = [];

/** The tickets of a list as far as they were read, kept as they are on the server. */
export function useTicketList(project: string, query: TicketQuery) {
  const { connection, live } = useServices();
  const queryClient = useQueryClient();
  const name = nameOfQuery(query);
  const queryKey = useMemo(() => ["tickets", project, name] as const, [project, name]);

  const readPage = useCallback(
    async (cursor: string | null, signal?: AbortSignal): Promise<TicketPage> => {
      const asked = Object.fromEntries(JSON.parse(name) as [string, string][]) as TicketQuery;
      return connection.call("listTickets", project, {
        query: { ...asked, limit: PAGE_ITEMS, ...(cursor === null ? {} : { cursor }) },
        ...(signal === undefined ? {} : { signal }),
      });
    },
    [connection, project, name],
  );

  const list = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => readPage(pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }: TicketPage) => nextCursor,
    // The head is merged in as news come: reading all pages anew would move the list under the reader's eyes.
    staleTime: Infinity,
    refetchOnWindowFocus: false,
  });

  const isOfAll = query.allProjects === "1";
  useEffect(() => {
    const loadedCount = () =>
      queryClient.getQueryData<Pages>(queryKey)?.pages.reduce((count, { items }) => count + items.length, 0) ?? 0;
    const leaving = new AbortController();
    const follower = followList({
      async read(isWhole) {
        const head = await readPage(null, leaving.signal);
        const items = [...head.items];
        let { nextCursor } = head;
        // As far as the list is loaded, page by page.
        while (nextCursor !== null && items.length < (isWhole ? loadedCount() : 0)) {
          const page = await readPage(nextCursor, leaving.signal);
          items.push(...page.items);
          ({ nextCursor } = page);
        }
        // One that has changed meanwhile may have come twice.
        return { items: [...new Map(items.map((item) => [item.id, item])).values()], nextCursor };
      },
      isLoading: () => (queryClient.getQueryState(queryKey)?.fetchStatus ?? "idle") !== "idle",
      merge(reading, news) {
        queryClient.setQueryData<Pages>(queryKey, (pages) => {
          if (pages === undefined) return pages;
          const known = {
            items: pages.pages.flatMap(({ items }) => items),
            nextCursor: pages.pages.at(-1)?.nextCursor ?? null,
          };
          const options = { news, sort: query.sort, project: isOfAll ? null : project };
          return { pages: [mergeHead(known, reading, options)], pageParams: [null] };
        });
      },
    });
    const ends = [
      live.on("ticket", follower.tell),
      live.on("gone", follower.tellGone),
      live.on("hello", follower.look),
      follower.end,
      () => leaving.abort(),
    ];
    // What was kept from an earlier visit may be old.
    if (queryClient.getQueryData(queryKey) !== undefined) follower.look();
    return () => {
      for (const end of ends) end();
    };
  }, [live, queryClient, queryKey, readPage, query.sort, isOfAll, project]);

  const items = useMemo(() => list.data?.pages.flatMap((page) => page.items) ?? EMPTY, [list.data]);
  return { ...list, items };
}
