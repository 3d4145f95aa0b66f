import { CircleAlert, CircleCheck, Clock, LoaderCircle, RotateCw, X } from "lucide-react";
import { useTexts } from "../i18n/texts.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { useStore } from "../ui/create-store.ts";
import { formatBytes } from "./format-bytes.ts";
import { ReadingBar } from "./knowledge-frame.tsx";
import type { Upload, UploadQueue } from "./upload-queue.ts";

const SIGNS = {
  waiting: { icon: Clock, className: "text-faint" },
  sending: { icon: LoaderCircle, className: "text-accent animate-spin" },
  reading: { icon: LoaderCircle, className: "text-accent animate-spin" },
  sent: { icon: CircleCheck, className: "text-ok" },
  failed: { icon: CircleAlert, className: "text-bad" },
} as const satisfies Record<Upload["state"], { icon: typeof Clock; className: string }>;

/** Files being uploaded: how many are done, and which were rejected or could not be read, and why. */
export function UploadList({ queue }: { queue: UploadQueue }) {
  const texts = useTexts();
  const { t } = texts;
  const uploads = useStore(queue.uploads);
  if (uploads.length === 0) return null;
  const sent = uploads.filter(({ state }) => state === "sent").length;
  const open = uploads.filter(({ state }) => state !== "sent" && state !== "failed").length;
  return (
    <section aria-label={t("upload.title")} className="rounded-xl border border-line bg-surface">
      <header className="flex items-center gap-3 px-3 py-2">
        <ReadingBar
          done={uploads.length - open}
          all={uploads.length}
          label={t("upload.progress", { done: sent, all: uploads.length })}
        />
        {open === 0 && (
          <Button size="small" className="quiet" onClick={() => queue.clear()}>
            {t("upload.clear")}
          </Button>
        )}
      </header>
      <ul className="max-h-64 divide-y divide-line overflow-y-auto border-t border-line">
        {uploads.map(({ error, id, name, sizeBytes, state }) => {
          const { icon: Icon, className } = SIGNS[state];
          return (
            <li key={id} className="flex items-start gap-2.5 px-3 py-2 text-sm">
              <Icon aria-hidden className={`mt-0.5 size-4 shrink-0 ${className}`} />
              <div className="min-w-0 flex-1">
                <p className="truncate">
                  {name} <span className="text-xs text-muted">{formatBytes(sizeBytes, texts)}</span>
                </p>
                <p className={`text-xs wrap-anywhere ${error === null ? "text-muted" : "text-bad"}`}>
                  {error ?? t(`upload.${state}`)}
                </p>
              </div>
              {state === "failed" && (
                <>
                  <IconButton
                    icon={RotateCw}
                    size="small"
                    label={t("upload.again", { name })}
                    onClick={() => queue.retry(id)}
                  />
                  <IconButton
                    icon={X}
                    size="small"
                    label={t("upload.leave", { name })}
                    onClick={() => queue.clear(id)}
                  />
                </>
              )}
            </li>
          );
        })}
      </ul>
    </section>
  );
}
