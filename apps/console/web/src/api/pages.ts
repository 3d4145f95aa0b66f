import { infiniteQueryOptions } from "@tanstack/react-query";

/** Resolves after this time; for polling. */
export const pauseMs = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** One page of a list, and the cursor of the next one. */
export interface Page<Item> {
  items: Item[];
  nextCursor: string | null;
}

/** Parameters of the request for a page of a list. */
interface PageRequest {
  query: { limit: number; cursor?: string };
  signal: AbortSignal;
}

const PAGE_LIMIT = 50;

/** Returns a query that reads a list in pages. */
export const pagesQuery = <Result extends Page<unknown>>(
  queryKey: readonly unknown[],
  readPage: (request: PageRequest) => Promise<Result>,
  limit = PAGE_LIMIT,
) =>
  infiniteQueryOptions({
    queryKey,
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }: Result) => nextCursor,
    queryFn: ({ signal, pageParam }) => readPage({ query: { limit, ...definedParams({ cursor: pageParam }) }, signal }),
  });

/** Returns the parameters with a value: neither null nor an empty text. */
export function definedParams<Params extends Record<string, string | null>>(params: Params) {
  const entries = Object.entries(params).filter(([, value]) => value !== null && value !== "");
  return Object.fromEntries(entries) as { [Name in keyof Params]?: NonNullable<Params[Name]> };
}

/** The maximum number of items that the server returns at once. */
export const LIST_LIMIT = 200;
