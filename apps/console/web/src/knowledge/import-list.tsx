import { Network } from "lucide-react";
import { useState } from "react";
import type { ImportItem } from "@svc/contracts";
import { useTexts } from "../i18n/use-texts.ts";
import { Ago } from "../ui/ago.tsx";
import { Button } from "../ui/button.tsx";
import { ReadingBar } from "./reading-bar.tsx";

const isGoing = ({ status }: ImportItem) => status === "queued" || status === "running";
/** So many are shown that are over, until all are asked for. */
const OVER_SHOWN = 1;

function Import({ item }: { item: ImportItem }) {
  const { t } = useTexts();
  const { createdAt, done, error, failed, found, sitemap, skipped, status } = item;
  const read = done + failed + skipped;
  return (
    <li className="flex items-start gap-2.5 px-3 py-2.5">
      <Network aria-hidden className="mt-0.5 size-4 shrink-0 text-faint" />
      <div className="min-w-0 flex-1">
        <p className="truncate text-sm font-medium" title={sitemap}>
          {sitemap}
        </p>
        {status === "queued" && <p className="text-xs text-muted">{t("import.queued")}</p>}
        {status === "running" && (
          <ReadingBar done={read} all={found ?? 0} label={t("import.progress", { done: read, all: found ?? 0 })} />
        )}
        {(status === "ready" || status === "failed") && (
          <p className={`text-xs wrap-anywhere ${status === "failed" ? "text-bad" : "text-muted"}`}>
            {status === "failed" ? (error ?? t("document.failed")) : t("import.ready", { n: done, failed, skipped })}
          </p>
        )}
      </div>
      <Ago time={createdAt} className="shrink-0 text-xs text-muted" />
    </li>
  );
}

/** Sites whose pages are being read, and the last that was. */
export function ImportList({ imports }: { imports: readonly ImportItem[] }) {
  const { t } = useTexts();
  const [showsAll, setShowsAll] = useState(false);
  if (imports.length === 0) return null;
  const over = imports.filter((item) => !isGoing(item));
  const shown = [...imports.filter(isGoing), ...(showsAll ? over : over.slice(0, OVER_SHOWN))];
  return (
    <section aria-label={t("import.title")} className="rounded-xl border border-line bg-surface">
      <ul className="divide-y divide-line">
        {shown.map((item) => (
          <Import key={item.id} item={item} />
        ))}
      </ul>
      {over.length > OVER_SHOWN && (
        <div className="border-t border-line px-2 py-1">
          <Button size="small" look="quiet" onClick={() => setShowsAll(!showsAll)}>
            {showsAll ? t("import.fewer") : t("import.all", { n: over.length })}
          </Button>
        </div>
      )}
    </section>
  );
}
