import { Skeleton } from "../ui/skeleton.tsx";

/** The outline of a page whose script or data is on its way. */
export const PageSkeleton = () => (
  <div aria-busy className="flex h-full flex-col gap-3 p-5">
    <Skeleton className="h-5 w-44" />
    <Skeleton className="h-4 w-72" />
    {[0, 1, 2, 3, 4, 5].map((row) => (
      <Skeleton key={row} className="h-12 w-full" />
    ))}
  </div>
);
