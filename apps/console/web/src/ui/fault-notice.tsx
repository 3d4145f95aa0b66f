import { CircleAlert } from "lucide-react";
import { useTexts } from "../i18n/use-texts.ts";
import { describeFault } from "./describe-fault.ts";
import { Button } from "./button.tsx";

/** What went wrong, in words, and a way to try again. */
export function FaultNotice({ fault, onRetry }: { fault: unknown; onRetry?: () => void }) {
  const { t } = useTexts();
  return (
    <div
      role="alert"
      className="flex items-start gap-2.5 rounded-lg border border-line bg-bad-soft px-3 py-2.5 text-sm"
    >
      <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
      <p className="min-w-0 flex-1 wrap-anywhere">{describeFault(fault, t)}</p>
      {onRetry !== undefined && (
        <Button size="small" onClick={onRetry}>
          {t("ui.tryAgain")}
        </Button>
      )}
    </div>
  );
}
