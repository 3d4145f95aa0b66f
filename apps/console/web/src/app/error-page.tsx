import { Link } from "@tanstack/react-router";
import type { ErrorComponentProps } from "@tanstack/react-router";
import { Compass, TriangleAlert } from "lucide-react";
import { useTexts } from "../i18n/use-texts.ts";
import { Button } from "../ui/button.tsx";
import { describeFault } from "../ui/describe-fault.ts";
import { EmptyState } from "../ui/empty-state.tsx";

/** Shown in place of a page that cannot be shown. */
export function ErrorPage({ error, reset }: ErrorComponentProps) {
  const { t } = useTexts();
  return (
    <EmptyState icon={TriangleAlert} title={t("error.title")} text={describeFault(error, t)}>
      <Button onClick={reset}>{t("ui.tryAgain")}</Button>
      <Button onClick={() => location.reload()}>{t("error.reload")}</Button>
    </EmptyState>
  );
}

/** Shown where the address leads nowhere. */
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
