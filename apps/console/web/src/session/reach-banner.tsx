import { CloudOff } from "lucide-react";
import { useTexts } from "../i18n/texts.ts";
import { useStore } from "../ui/create-store.ts";
import { useServices } from "./services.ts";

/** Shown above everything else while the server is unavailable. */
export function ReachBanner() {
  const { reach } = useServices();
  const { t } = useTexts();
  const isAway = useStore(reach) === "away";
  return (
    <div role="status">
      {isAway && (
        <p className="flex items-center justify-center gap-2 bg-warn-soft px-4 py-1.5 text-sm font-medium text-warn">
          <CloudOff aria-hidden className="size-4 shrink-0" />
          {t("reach.away")}
        </p>
      )}
    </div>
  );
}
