import {
  FileCode,
  FileSpreadsheet,
  FileText,
  Globe,
  RotateCw,
  Trash2,
  Network,
  FileUp,
  PenLine,
  Search,
  Upload as UploadIcon,
} from "lucide-react";
import type { LucideIcon } from "lucide-react";
import { useState, useDeferredValue, useEffect, useRef } from "react";
import type { DocumentItem, DocumentItemStatus, ImportItem, KbItem } from "@svc/contracts";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { addDocument, documentsQuery, importsQuery } from "../api/knowledge.ts";
import { useTexts } from "../i18n/texts.ts";
import { useServices, useCommands, useProject, useRights } from "../session/services.ts";
import { Ago } from "../ui/ago.tsx";
import { Badge } from "../ui/badge.tsx";
import type { Tone } from "../ui/badge.tsx";
import { IconButton, Button } from "../ui/button.tsx";
import { describeError } from "../ui/describe-error.ts";
import { ConfirmDialog } from "../ui/dialog.tsx";
import { lazyDialog } from "../ui/lazy-dialog.tsx";
import { SelectField } from "../ui/field.tsx";
import { OutLink } from "../ui/markdown.tsx";
import { EmptyState, ErrorNotice, Skeleton } from "../ui/notice.tsx";
import { useFileDrop } from "../ui/use-file-drop.ts";
import { formatBytes } from "./format-bytes.ts";
import { ReadingBar } from "./knowledge-frame.tsx";
import type { SourceKind } from "./source-dialog.tsx";
import { UploadList } from "./upload-list.tsx";
import { ACCEPTED_FILES, useUploads } from "./upload-queue.ts";

const TONES = { queued: "accent", ready: "ok", failed: "bad" } as const satisfies Record<DocumentItemStatus, Tone>;

function iconOf({ mime, url }: DocumentItem): LucideIcon {
  if (mime.includes("sheet") || mime === "text/csv") return FileSpreadsheet;
  if (mime === "text/html") return url === null ? FileCode : Globe;
  return FileText;
}

/** True for what was fetched from its address, and was not written by somebody who only names one. */
const isPage = ({ key, mime, url }: DocumentItem) => key === url && mime !== "text/markdown" && mime !== "text/plain";

/** A document: how far it is, why it could not be read, and ways to take it out and to fetch a page anew. */
function DocumentRow({ item, mayWrite }: { item: DocumentItem; mayWrite: boolean }) {
  const texts = useTexts();
  const { t } = texts;
  const { connection, queryClient, toasts } = useServices();
  const project = useProject();
  const [isDeleting, setDeleting] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const { bytes, chunks, error, id, kbId, key, language, status, title, updatedAt, url } = item;
  const Icon = iconOf(item);

  async function change(work: () => Promise<unknown>, done: string) {
    setBusy(true);
    try {
      await work();
      toasts.show({ kind: "done", text: done });
    } catch (error) {
      toasts.show({ kind: "error", text: describeError(error, t) });
    } finally {
      setBusy(false);
      setDeleting(false);
      await queryClient.invalidateQueries({ queryKey: ["documents", project, kbId] });
      await queryClient.invalidateQueries({ queryKey: ["kbs", project] });
    }
  }

  const remove = () =>
    change(
      () => connection.call("deleteDocument", project, { params: { id: kbId, docId: id } }),
      t("document.deleted", { title }),
    );
  // What is added again under its address takes its own place.
  const refetchList = (address: string) =>
    change(() => addDocument(connection, { project, kbId }, { url: address }), t("document.fetched", { title }));

  // A key that was made of the title, or of the content, says nothing more.
  const isOwnName = key === title || /^text:[0-9a-f]{32}$/.test(key);
  const facts = [
    ...(chunks > 0 ? [t("knowledge.passages", { n: chunks })] : []),
    ...(bytes > 0 ? [formatBytes(bytes, texts)] : []),
    ...(language === null ? [] : [language.toUpperCase()]),
  ];
  return (
    <li className="flex items-start gap-3 px-3 py-2.5">
      <Icon aria-hidden className="mt-0.5 size-4 shrink-0 text-faint" />
      <div className="min-w-0 flex-1">
        <p className="truncate text-sm font-medium" dir="auto" title={title}>
          {title}
        </p>
        <p className="truncate text-xs text-muted [&_a]:hover:underline" dir="auto">
          {url === null ? isOwnName ? null : key : <OutLink href={url}>{url}</OutLink>}
        </p>
        <p className="text-xs text-muted sm:hidden">{facts.join(" · ")}</p>
        {error !== null && (
          <p className={`mt-0.5 text-xs wrap-anywhere ${status === "failed" ? "text-bad" : "text-warn"}`}>{error}</p>
        )}
      </div>
      <p className="shrink-0 pt-0.5 text-right text-xs text-muted tabular-nums max-sm:hidden">
        {facts.join(" · ")}
        <Ago time={updatedAt} className="block" />
      </p>
      <div className="flex w-20 shrink-0 justify-end pt-0.5">
        <Badge tone={TONES[status]}>{t(`document.${status}`)}</Badge>
      </div>
      {mayWrite && url !== null && isPage(item) && (
        <IconButton
          icon={RotateCw}
          size="small"
          label={t("document.fetch", { title })}
          disabled={isBusy || status === "queued"}
          onClick={() => void refetchList(url)}
        />
      )}
      {mayWrite && (
        <IconButton
          icon={Trash2}
          size="small"
          label={t("document.delete", { title })}
          onClick={() => setDeleting(true)}
        />
      )}
      {isDeleting && (
        <ConfirmDialog
          title={t("document.delete", { title })}
          action={t("document.deleteNow")}
          isBusy={isBusy}
          onConfirm={() => void remove()}
          onClose={() => setDeleting(false)}
        >
          {t("document.deleteText")}
        </ConfirmDialog>
      )}
    </li>
  );
}

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
function ImportList({ imports }: { imports: readonly ImportItem[] }) {
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

const SourceDialog = lazyDialog(async () => (await import("./source-dialog.tsx")).SourceDialog);

const STATUSES = ["all", "queued", "ready", "failed"] as const;

/** The documents of a knowledge base, and all ways to add some. */
export function DocumentsTab({ kb }: { kb: KbItem }) {
  const { t } = useTexts();
  const { connection, queryClient } = useServices();
  const project = useProject();
  const mayWrite = useRights()("kb:write");
  const [words, setWords] = useState("");
  const [status, setStatus] = useState<DocumentItemStatus | null>(null);
  const [source, setSource] = useState<SourceKind | null>(null);
  const q = useDeferredValue(words.trim());
  const queue = useUploads(() => Promise.resolve(kb.id));
  const filesRef = useRef<HTMLInputElement>(null);
  const searchRef = useRef<HTMLInputElement>(null);
  const documents = useInfiniteQuery(documentsQuery(connection, { project, kbId: kb.id, q, status }));
  const imports = useQuery(importsQuery(connection, { project, kbId: kb.id }));
  const { isOver, handlers } = useFileDrop(mayWrite, (files) => queue.add(files));

  // A sitemap that is being read makes documents; each of them shows as soon as the base counts it.
  const { documents: count, queued, updatedAt } = kb;
  useEffect(() => {
    void queryClient.invalidateQueries({ queryKey: ["documents", project, kb.id] });
  }, [queryClient, project, kb.id, count, queued, updatedAt]);

  const chooseFiles = () => filesRef.current?.click();
  useCommands([
    {
      id: "kb-search",
      title: t("knowledge.findDocument"),
      group: "page",
      keys: "/",
      run: () => searchRef.current?.focus(),
    },
    ...(mayWrite
      ? [
          { id: "kb-files", title: t("knowledge.addFiles"), group: "page" as const, keys: "u", run: chooseFiles },
          {
            id: "kb-text",
            title: t("knowledge.addText"),
            group: "page" as const,
            keys: "c",
            run: () => setSource("text"),
          },
          { id: "kb-page", title: t("knowledge.addPage"), group: "page" as const, run: () => setSource("page") },
          { id: "kb-site", title: t("knowledge.addSite"), group: "page" as const, run: () => setSource("site") },
        ]
      : []),
  ]);

  const items = documents.data?.pages.flatMap((page) => page.items) ?? [];
  const isFiltered = q !== "" || status !== null;
  return (
    <div {...handlers} className="flex flex-col gap-4">
      {mayWrite && (
        <div
          className={`flex flex-col items-center gap-3 rounded-xl border-2 border-dashed px-4 py-6 text-center transition-colors ${
            isOver ? "border-accent bg-accent-soft" : "border-line bg-surface"
          }`}
        >
          <div className="flex items-center gap-2.5">
            <FileUp aria-hidden className={`size-5 shrink-0 ${isOver ? "text-accent" : "text-faint"}`} />
            <p className="text-sm">
              <span className="font-medium">{t(isOver ? "upload.dropNow" : "upload.drop")}</span>{" "}
              <span className="text-muted max-sm:block">{t("upload.kinds")}</span>
            </p>
          </div>
          <div className="flex flex-wrap justify-center gap-2">
            <Button onClick={chooseFiles} keys="u">
              <UploadIcon aria-hidden className="size-4" />
              {t("knowledge.addFiles")}
            </Button>
            <Button onClick={() => setSource("page")}>
              <Globe aria-hidden className="size-4" />
              {t("knowledge.addPage")}
            </Button>
            <Button onClick={() => setSource("site")}>
              <Network aria-hidden className="size-4" />
              {t("knowledge.addSite")}
            </Button>
            <Button onClick={() => setSource("text")} keys="c">
              <PenLine aria-hidden className="size-4" />
              {t("knowledge.addText")}
            </Button>
          </div>
          <input
            ref={filesRef}
            type="file"
            multiple
            accept={ACCEPTED_FILES}
            tabIndex={-1}
            aria-hidden
            className="hidden"
            onChange={({ currentTarget }) => {
              queue.add([...(currentTarget.files ?? [])]);
              currentTarget.value = "";
            }}
          />
        </div>
      )}
      <UploadList queue={queue} />
      <ImportList imports={imports.data ?? []} />
      <div className="flex flex-wrap items-center gap-2">
        <label className="relative min-w-0 flex-1 basis-56">
          <span className="sr-only">{t("knowledge.findDocument")}</span>
          <Search aria-hidden className="pointer-events-none absolute top-2 left-2.5 size-4 text-faint" />
          <input
            ref={searchRef}
            type="search"
            value={words}
            placeholder={t("knowledge.findDocument")}
            onChange={({ currentTarget }) => setWords(currentTarget.value)}
            className="h-8 w-full rounded-md border border-edge bg-surface pr-2 pl-8 text-base md:text-sm"
          />
        </label>
        <SelectField
          label={t("knowledge.status")}
          hidesLabel
          value={status ?? "all"}
          onChange={({ currentTarget: { value } }) => setStatus(value === "all" ? null : (value as DocumentItemStatus))}
          options={STATUSES.map((value) => ({ value, label: t(`document.${value}`) }))}
          className="w-44"
        />
      </div>
      {documents.isError && documents.data === undefined && (
        <ErrorNotice error={documents.error} onRetry={() => void documents.refetch()} />
      )}
      {documents.isPending && (
        <div aria-busy className="flex flex-col gap-2">
          {[0, 1, 2, 3].map((row) => (
            <Skeleton key={row} className="h-13 w-full rounded-lg" />
          ))}
        </div>
      )}
      {documents.isSuccess && items.length === 0 && (
        <EmptyState
          icon={FileText}
          title={t(isFiltered ? "knowledge.noMatch" : "knowledge.noDocuments")}
          text={t(isFiltered ? "knowledge.noMatchText" : "knowledge.noDocumentsText")}
        />
      )}
      {items.length > 0 && (
        <ul className="divide-y divide-line rounded-xl border border-line bg-surface">
          {items.map((item) => (
            <DocumentRow key={item.id} item={item} mayWrite={mayWrite} />
          ))}
        </ul>
      )}
      {documents.hasNextPage && (
        <Button
          isBusy={documents.isFetchingNextPage}
          onClick={() => void documents.fetchNextPage()}
          className="self-center"
        >
          {t("ui.more")}
        </Button>
      )}
      {source !== null && <SourceDialog kind={source} kbId={kb.id} onClose={() => setSource(null)} />}
    </div>
  );
}
