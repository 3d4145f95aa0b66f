import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import type { InfiniteData } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo } from "react";
import type { TicketItem } from "@svc/contracts";
import type { TicketNews } from "../api/live.ts";
import { useServices } from "../app/services.ts";
import type { TicketQuery } from "./inbox-search.ts";
import { nameOfQuery } from "./name-of-query.ts";
import { mergeHead } from "./merge-head.ts";
import type { TicketPage } from "./merge-head.ts";

const PAGE_ITEMS = 100;
/** News come in bursts: the head of the list is read once for all of them. */
const NEWS_MS = 300;

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

  useEffect(() => {
    let news = new Map<string, TicketNews>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    async function readHead() {
      timer = undefined;
      const told = news;
      news = new Map();
      let head: TicketPage;
      try {
        head = await readPage(null);
      } catch {
        // The server is away, as the page says; whatever is told when it is back reads the head again.
        for (const [id, item] of told) if (!news.has(id)) news.set(id, item);
        return;
      }
      if (isOver) return;
      queryClient.setQueryData<Pages>(queryKey, (pages) => {
        if (pages === undefined) return pages;
        const known = {
          items: pages.pages.flatMap(({ items }) => items),
          nextCursor: pages.pages.at(-1)?.nextCursor ?? null,
        };
        return { pages: [mergeHead(known, head, { news: told, sort: query.sort })], pageParams: [null] };
      });
    }
    const look = () => {
      timer ??= setTimeout(() => void readHead(), NEWS_MS);
    };
    const ends = [
      live.on("ticket", (item) => {
        news.set(item.ticketId, item);
        look();
      }),
      live.on("gone", look),
      live.on("hello", look),
    ];
    // What was kept from an earlier visit may be old.
    if (queryClient.getQueryData(queryKey) !== undefined) look();
    return () => {
      isOver = true;
      clearTimeout(timer);
      for (const end of ends) end();
    };
  }, [live, queryClient, queryKey, readPage, query.sort]);

  const items = useMemo(() => list.data?.pages.flatMap((page) => page.items) ?? EMPTY, [list.data]);
  return { ...list, items };
}
