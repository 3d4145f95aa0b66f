import { CloudOff } from "lucide-react";
import { useTexts } from "../i18n/texts.ts";
import { useStore } from "../ui/create-store.ts";
import { useServices } from "./services.ts";

/** Shown while the server is unavailable. */
export function ReachBanner() {
  const { reach } = useServices();
  const { t } = useTexts();
  const isAway = useStore(reach) === "away";
  return (
    <div role="status" className="pointer-events-none fixed inset-x-0 top-2 z-50 flex justify-center px-4">
      {isAway && (
        <p className="animate-appear flex items-center gap-2 rounded-full border border-line bg-warn-soft px-3.5 py-1.5 text-sm font-medium text-warn shadow-pop">
          <CloudOff aria-hidden className="size-4 shrink-0" />
          {t("reach.away")}
        </p>
      )}
    </div>
  );
}
