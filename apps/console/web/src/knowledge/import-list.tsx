import { useQuery } from "@tanstack/react-query";
import { CircleAlert, CircleCheck, Clock, LoaderCircle, Network, RotateCw, Trash2, X } from "lucide-react";
import { useEffect, useState } from "react";
import type { ImportItem } from "@svc/contracts";
import { addDocument, importsQuery, removeImport } from "../api/knowledge.ts";
import { useAction } from "../forms/use-settings-form.ts";
import { useTexts } from "../i18n/texts.ts";
import { useProject, useServices } from "../session/services.ts";
import { Ago } from "../ui/badge.tsx";
import { Button, IconButton } from "../ui/button.tsx";
import { useStore } from "../ui/create-store.ts";
import { describeUnread } from "../ui/describe-error.ts";
import { formatBytes } from "../ui/files.ts";
import { ReadingBar } from "./knowledge-frame.tsx";
import type { Upload, UploadQueue } from "./upload-queue.ts";

/** Buttons of a row that has failed. */
export function FailedActions({
  name,
  isBusy,
  onRetry,
  onRemove,
}: {
  /** Name of the row, for screen readers. */
  name: string;
  isBusy: boolean;
  /** Null if it cannot be retried, such as an uploaded file. */
  onRetry: (() => void) | null;
  onRemove: () => void;
}) {
  const { t } = useTexts();
  return (
    <div className="mt-1.5 flex flex-wrap gap-1.5">
      {onRetry !== null && (
        <Button
          size="small"
          icon={RotateCw}
          isBusy={isBusy}
          aria-label={t("failed.tryAgainOf", { name })}
          onClick={onRetry}
        >
          {t("ui.tryAgain")}
        </Button>
      )}
      <Button size="small" icon={Trash2} aria-label={t("failed.removeOf", { name })} onClick={onRemove}>
        {t("failed.remove")}
      </Button>
    </div>
  );
}

const isRunning = ({ status }: ImportItem) => status === "queued" || status === "running";
/** Number of finished imports that are shown at first. */
const FINISHED_SHOWN = 1;

/** Returns the actions of the row of a finished import. */
function useImportActions({ id, kbId, maxPages, sitemap }: ImportItem) {
  const { t } = useTexts();
  const { connection, queryClient } = useServices();
  const project = useProject();
  const { isBusy, runAside } = useAction();
  async function remove(): Promise<void> {
    await removeImport(connection, { project, kbId }, id);
    await queryClient.invalidateQueries({ queryKey: ["imports", project, kbId] });
  }
  return {
    isBusy,
    remove: () => void runAside(remove),
    /** Imports the site again; the new import replaces this one in the list. */
    importAgain: () =>
      void runAside(async () => {
        await addDocument(connection, { project, kbId }, { sitemap, maxPages });
        await remove();
        return t("source.reading", { site: sitemap });
      }),
  };
}

function Import({ item, mayWrite }: { item: ImportItem; mayWrite: boolean }) {
  const texts = useTexts();
  const { t } = texts;
  const { isBusy, importAgain, remove } = useImportActions(item);
  const error = item.error === null ? null : describeUnread(item.error, texts);
  const { createdAt, done, failed, found, sitemap, skipped, status } = item;
  const read = done + failed + skipped;
  return (
    <li className="flex items-start gap-2.5 px-3 py-2.5">
      <Network aria-hidden className="mt-0.5 size-4 shrink-0 text-faint" />
      <div className="min-w-0 flex-1">
        <p className="truncate text-sm font-medium" title={sitemap}>
          {sitemap}
        </p>
        {status === "queued" && (
          <p className={`text-xs wrap-anywhere ${error === null ? "text-muted" : "text-warn"}`}>
            {error ?? t("import.queued")}
          </p>
        )}
        {status === "running" && (
          <ReadingBar done={read} all={found ?? 0} label={t("import.progress", { done: read, all: found ?? 0 })} />
        )}
        {status === "ready" && (
          <p className="text-xs wrap-anywhere text-muted">{t("import.ready", { n: done, failed, skipped })}</p>
        )}
        {status === "ready" && error !== null && <p className="text-xs wrap-anywhere text-warn">{error}</p>}
        {status === "failed" && (
          <>
            <p className="text-xs wrap-anywhere text-bad">{error ?? t("document.failed")}</p>
            {mayWrite && <FailedActions name={sitemap} isBusy={isBusy} onRetry={importAgain} onRemove={remove} />}
          </>
        )}
      </div>
      <Ago time={createdAt} className="shrink-0 text-xs text-muted" />
      {mayWrite && status === "ready" && (
        <>
          <IconButton
            icon={RotateCw}
            size="small"
            label={t("import.again", { site: sitemap })}
            disabled={isBusy}
            onClick={importAgain}
          />
          <IconButton
            icon={Trash2}
            size="small"
            label={t("import.remove", { site: sitemap })}
            disabled={isBusy}
            onClick={remove}
          />
        </>
      )}
    </li>
  );
}

/** The running imports of websites into a knowledge base, and the last finished one. */
export function ImportList({ kbId, mayWrite }: { kbId: string; mayWrite: boolean }) {
  const { t } = useTexts();
  const { connection, queryClient } = useServices();
  const project = useProject();
  const [showsAll, setShowsAll] = useState(false);
  const imports = useQuery(importsQuery(connection, { project, kbId })).data ?? [];

  // Documents are created when an import finds pages, which is before the next poll of the knowledge bases.
  const found = imports.map((item) => item.found ?? 0).join();
  useEffect(() => {
    void queryClient.invalidateQueries({ queryKey: ["kbs", project] });
  }, [queryClient, project, found]);

  if (imports.length === 0) return null;
  const finished = imports.filter((item) => !isRunning(item));
  const shown = [...imports.filter(isRunning), ...(showsAll ? finished : finished.slice(0, FINISHED_SHOWN))];
  return (
    <section aria-label={t("import.title")} className="rounded-xl border border-line bg-surface">
      <ul className="divide-y divide-line">
        {shown.map((item) => (
          <Import key={item.id} item={item} mayWrite={mayWrite} />
        ))}
      </ul>
      {finished.length > FINISHED_SHOWN && (
        <div className="border-t border-line px-2 py-1">
          <Button size="small" variant="quiet" onClick={() => setShowsAll(!showsAll)}>
            {showsAll ? t("import.fewer") : t("import.all", { n: finished.length })}
          </Button>
        </div>
      )}
    </section>
  );
}

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
