import type { ReactNode } from "react";
import { ErrorNotice, Skeleton } from "./notice.tsx";

/** Placeholders of this many loading rows. */
export const Skeletons = ({ count, className }: { count: number; className: string }) => (
  <div aria-busy className="flex flex-col gap-2">
    {Array.from({ length: count }, (_, row) => (
      <Skeleton key={row} className={className} />
    ))}
  </div>
);

/** The parts of a query's result that `QueryView` shows. */
interface QueryState<Data> {
  data: Data | undefined;
  error: unknown;
  isPending: boolean;
  refetch: () => Promise<unknown>;
}

/**
 * The result of a query: the skeleton while it loads, its error with a button that retries, and the view that
 * `children` returns for its data.
 */
export function QueryView<Data>({
  query: { data, error, isPending, refetch },
  skeleton,
  children,
}: {
  query: QueryState<Data>;
  /** Classes of the skeleton, or another placeholder. */
  skeleton: string | ReactNode;
  children: (data: Data) => ReactNode;
}) {
  return (
    <>
      {error !== null && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {isPending && (typeof skeleton === "string" ? <Skeleton className={skeleton} /> : skeleton)}
      {data !== undefined && children(data)}
    </>
  );
}
