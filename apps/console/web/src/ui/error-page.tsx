import { Link } from "@tanstack/react-router";
import type { ErrorComponentProps } from "@tanstack/react-router";
import { Compass, TriangleAlert } from "lucide-react";
import { useTexts } from "../i18n/texts.ts";
import { Button } from "./button.tsx";
import { describeError } from "./describe-error.ts";
import { EmptyState, Skeleton } from "./notice.tsx";

/** Shown instead of a page that cannot be rendered. */
export function ErrorPage({ error, reset }: ErrorComponentProps) {
  const { t } = useTexts();
  return (
    <EmptyState icon={TriangleAlert} title={t("error.title")} text={describeError(error, t)}>
      <Button onClick={reset}>{t("ui.tryAgain")}</Button>
      <Button onClick={() => location.reload()}>{t("error.reload")}</Button>
    </EmptyState>
  );
}

/** Shown for an unknown path. */
export function MissingPage() {
  const { t } = useTexts();
  return (
    <EmptyState icon={Compass} title={t("missing.title")} text={t("missing.text")}>
      <Link to="/" className="text-sm font-medium text-accent underline">
        {t("missing.home")}
      </Link>
    </EmptyState>
  );
}

/** Skeleton of a page whose script or data is loading. */
export const PageSkeleton = () => (
  <div aria-busy className="flex h-full flex-col gap-3 p-5">
    <Skeleton className="h-5 w-44" />
    <Skeleton className="h-4 w-72" />
    {[0, 1, 2, 3, 4, 5].map((row) => (
      <Skeleton key={row} className="h-12 w-full" />
    ))}
  </div>
);
