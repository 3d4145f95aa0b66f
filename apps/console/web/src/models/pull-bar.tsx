import type { ModelPullProgress } from "@svc/contracts";
import { useTexts } from "../i18n/use-texts.ts";
import { formatBytes } from "../knowledge/format-bytes.ts";

/** How far a pull is. Before the size is known it only says what is being done. */
export function PullBar({ model, progress }: { model: string; progress: ModelPullProgress | null }) {
  const texts = useTexts();
  const { percent, t } = texts;
  const total = progress?.totalBytes ?? null;
  const done = progress?.completedBytes ?? 0;
  const share = total === null || total === 0 ? null : Math.min(1, done / total);
  return (
    <div className="mt-1.5 max-w-md">
      <progress
        aria-label={t("models.progressOf", { model })}
        {...(share === null ? {} : { value: share })}
        max={1}
        className="block h-1.5 w-full accent-accent"
      />
      <p className="mt-0.5 text-xs text-muted tabular-nums">
        {share === null || total === null
          ? t("models.beginning")
          : t("models.progress", {
              share: percent(share),
              done: formatBytes(done, texts),
              total: formatBytes(total, texts),
            })}
        {progress !== null && <span className="ml-1.5 text-faint">{progress.status}</span>}
      </p>
    </div>
  );
}
