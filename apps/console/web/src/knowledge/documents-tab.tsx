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
  Upload as UploadIcon,
} from "lucide-react";
import type { LucideIcon } from "lucide-react";
import { useState, useDeferredValue, useEffect, useRef } from "react";
import type { ReactNode, RefObject } from "react";
import type { DocumentItem, DocumentItemStatus, KbItem } from "@svc/contracts";
import { useInfiniteQuery } from "@tanstack/react-query";
import { addDocument, documentsQuery } from "../api/knowledge.ts";
import type { DocumentFilter } from "../api/knowledge.ts";
import { useAction } from "../forms/use-settings-form.ts";
import { useTexts } from "../i18n/texts.ts";
import { Pages, itemsOf } from "../lists/resource-page.tsx";
import { useServices, useCommands, useProject, useRights } from "../session/services.ts";
import { Ago, Badge } from "../ui/badge.tsx";
import type { Tone } from "../ui/badge.tsx";
import { IconButton, Button } from "../ui/button.tsx";
import { ConfirmDialog, lazyDialog } from "../ui/dialog.tsx";
import { SearchField, SelectField } from "../ui/field.tsx";
import { OutLink } from "../ui/markdown.tsx";
import { EmptyState } from "../ui/notice.tsx";
import { FileChooser, useFileDrop } from "../ui/use-file-drop.tsx";
import { describeUnread } from "../ui/describe-error.ts";
import { formatBytes } from "../ui/files.ts";
import { FailedActions, ImportList, UploadList } from "./import-list.tsx";
import type { SourceKind } from "./source-dialog.tsx";
import { ACCEPTED_FILES, useUploads } from "./upload-queue.ts";

const TONES = { queued: "accent", ready: "ok", failed: "bad" } as const satisfies Record<DocumentItemStatus, Tone>;

function iconOf({ mime, url }: DocumentItem): LucideIcon {
  if (mime.includes("sheet") || mime === "text/csv") return FileSpreadsheet;
  if (mime === "text/html") return url === null ? FileCode : Globe;
  return FileText;
}

/** Returns true if the document was fetched from its URL; false for a text that only has a URL. */
const isPage = ({ key, mime, url }: DocumentItem) => key === url && mime !== "text/markdown" && mime !== "text/plain";

/** Returns the actions of a document's row. */
function useDocumentActions({ id, kbId, title }: DocumentItem) {
  const { t } = useTexts();
  const { connection, queryClient } = useServices();
  const project = useProject();
  const { isBusy, runAside } = useAction();

  async function change(work: () => Promise<unknown>, done: string) {
    await runAside(async () => {
      await work();
      return done;
    });
    await queryClient.invalidateQueries({ queryKey: ["documents", project, kbId] });
    await queryClient.invalidateQueries({ queryKey: ["kbs", project] });
  }
  const params = { id: kbId, docId: id };
  return {
    isBusy,
    remove: () =>
      change(() => connection.call("deleteDocument", project, { params }), t("document.deleted", { title })),
    // Adding a page again replaces the document with its URL.
    refetch: (url: string) =>
      change(() => addDocument(connection, { project, kbId }, { url }), t("document.fetched", { title })),
  };
}

/** The title and the URL or key of a document, and the error if it could not be read, with buttons to fix it. */
function DocumentName({ item, facts, children }: { item: DocumentItem; facts: string; children: ReactNode }) {
  const texts = useTexts();
  const { error, key, status, title, url } = item;
  // A key that is the title or a hash of the content says nothing to readers.
  const isKeyHidden = key === title || /^text:[0-9a-f]{32}$/.test(key);
  return (
    <div className="min-w-0 flex-1">
      <p className="truncate text-sm font-medium" dir="auto" title={title}>
        {title}
      </p>
      <p className="truncate text-xs text-muted [&_a]:hover:underline" dir="auto">
        {url === null ? isKeyHidden ? null : key : <OutLink href={url}>{url}</OutLink>}
      </p>
      <p className="text-xs text-muted sm:hidden">{facts}</p>
      {error !== null && (
        <p className={`mt-0.5 text-xs wrap-anywhere ${status === "failed" ? "text-bad" : "text-warn"}`}>
          {describeUnread(error, texts)}
        </p>
      )}
      {children}
    </div>
  );
}

function DeleteDialog({ title, remove, onClose }: { title: string; remove: () => Promise<void>; onClose: () => void }) {
  const { t } = useTexts();
  return (
    <ConfirmDialog
      title={t("document.delete", { title })}
      action={t("document.deleteNow")}
      onConfirm={async () => {
        await remove();
        onClose();
      }}
      onClose={onClose}
    >
      {t("document.deleteText")}
    </ConfirmDialog>
  );
}

/** A document: its state, and buttons that delete it or refetch its page. */
function DocumentRow({ item, mayWrite }: { item: DocumentItem; mayWrite: boolean }) {
  const texts = useTexts();
  const { t } = texts;
  const [isDeleting, setDeleting] = useState(false);
  const { isBusy, refetch, remove } = useDocumentActions(item);
  const { bytes, chunks, language, status, title, updatedAt, url } = item;
  const Icon = iconOf(item);
  const pageUrl = isPage(item) ? url : null;
  const isFailed = status === "failed";
  const facts = [
    ...(chunks > 0 ? [t("knowledge.passages", { n: chunks })] : []),
    ...(bytes > 0 ? [formatBytes(bytes, texts)] : []),
    ...(language === null ? [] : [language.toUpperCase()]),
  ].join(" · ");
  return (
    <li className="flex items-start gap-3 px-3 py-2.5">
      <Icon aria-hidden className="mt-0.5 size-4 shrink-0 text-faint" />
      <DocumentName item={item} facts={facts}>
        {mayWrite && isFailed && (
          <FailedActions
            name={title}
            isBusy={isBusy}
            onRetry={pageUrl === null ? null : () => void refetch(pageUrl)}
            onRemove={() => setDeleting(true)}
          />
        )}
      </DocumentName>
      <p className="shrink-0 pt-0.5 text-right text-xs text-muted tabular-nums max-sm:hidden">
        {facts === "" ? "" : `${facts} · `}
        <Ago time={updatedAt} />
      </p>
      <div className="flex min-w-20 shrink-0 justify-end pt-0.5">
        <Badge tone={TONES[status]}>{t(`document.${status}`)}</Badge>
      </div>
      {mayWrite && !isFailed && pageUrl !== null && (
        <IconButton
          icon={RotateCw}
          size="small"
          label={t("document.fetch", { title })}
          disabled={isBusy || status === "queued"}
          onClick={() => void refetch(pageUrl)}
        />
      )}
      {mayWrite && !isFailed && (
        <IconButton
          icon={Trash2}
          size="small"
          label={t("document.delete", { title })}
          onClick={() => setDeleting(true)}
        />
      )}
      {isDeleting && <DeleteDialog title={title} remove={remove} onClose={() => setDeleting(false)} />}
    </li>
  );
}

const SourceDialog = lazyDialog(async () => (await import("./source-dialog.tsx")).SourceDialog);

const STATUSES = ["all", "queued", "ready", "failed"] as const;

/** Drop zone for files, with buttons for all kinds of documents. Files can be dropped anywhere on the tab. */
function AddDocuments({
  isOver,
  chooser,
  onFiles,
  onSource,
}: {
  /** True while files are dragged over the tab. */
  isOver: boolean;
  chooser: RefObject<HTMLInputElement | null>;
  onFiles: (files: File[]) => void;
  onSource: (kind: SourceKind) => void;
}) {
  const { t } = useTexts();
  return (
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
        <Button icon={UploadIcon} onClick={() => chooser.current?.click()} keys="u">
          {t("knowledge.addFiles")}
        </Button>
        <Button icon={Globe} onClick={() => onSource("page")}>
          {t("knowledge.addPage")}
        </Button>
        <Button icon={Network} onClick={() => onSource("site")}>
          {t("knowledge.addSite")}
        </Button>
        <Button icon={PenLine} onClick={() => onSource("text")} keys="c">
          {t("knowledge.addText")}
        </Button>
      </div>
      <FileChooser ref={chooser} accept={ACCEPTED_FILES} onFiles={onFiles} />
    </div>
  );
}

/** Filters of the documents: a search and a status. */
function DocumentFilterBar({
  filter: { q, status },
  searchRef,
  onChange,
}: {
  filter: DocumentFilter;
  searchRef: RefObject<HTMLInputElement | null>;
  onChange: (filter: DocumentFilter) => void;
}) {
  const { t } = useTexts();
  return (
    <div className="flex flex-wrap items-center gap-2">
      <SearchField
        ref={searchRef}
        label={t("knowledge.findDocument")}
        value={q}
        onChange={(words) => onChange({ q: words, status })}
        className="basis-56"
      />
      <SelectField
        label={t("knowledge.status")}
        hidesLabel
        value={status ?? "all"}
        onChange={(value) => onChange({ q, status: value === "all" ? null : value })}
        options={STATUSES.map((value) => ({ value, label: t(`document.${value}`) }))}
        className="w-44"
      />
    </div>
  );
}

/** The documents of a knowledge base, and controls that add documents. */
export function DocumentsTab({ kb }: { kb: KbItem }) {
  const { t } = useTexts();
  const { connection, queryClient } = useServices();
  const project = useProject();
  const mayWrite = useRights()("kb:write");
  const [filter, setFilter] = useState<DocumentFilter>({ q: "", status: null });
  const [source, setSource] = useState<SourceKind | null>(null);
  const q = useDeferredValue(filter.q.trim());
  const queue = useUploads(() => Promise.resolve(kb.id));
  const filesRef = useRef<HTMLInputElement>(null);
  const searchRef = useRef<HTMLInputElement>(null);
  const scope = { project, kbId: kb.id };
  const documents = useInfiniteQuery(documentsQuery(connection, { ...scope, q, status: filter.status }));
  const { isOver, handlers } = useFileDrop(mayWrite, (files) => queue.add(files));

  // A running import creates documents: refetches the list when the knowledge base counts more of them.
  const { documents: count, queued, updatedAt } = kb;
  useEffect(() => {
    void queryClient.invalidateQueries({ queryKey: ["documents", project, kb.id] });
  }, [queryClient, project, kb.id, count, queued, updatedAt]);

  const writeCommands = [
    { id: "kb-files", title: t("knowledge.addFiles"), keys: "u", run: () => filesRef.current?.click() },
    { id: "kb-text", title: t("knowledge.addText"), keys: "c", run: () => setSource("text") },
    { id: "kb-page", title: t("knowledge.addPage"), run: () => setSource("page") },
    { id: "kb-site", title: t("knowledge.addSite"), run: () => setSource("site") },
  ];
  useCommands("page", [
    { id: "kb-search", title: t("knowledge.findDocument"), keys: "/", run: () => searchRef.current?.focus() },
    ...(mayWrite ? writeCommands : []),
  ]);

  const isFiltered = q !== "" || filter.status !== null;
  return (
    <div {...handlers} className="flex flex-col gap-4">
      {mayWrite && <AddDocuments isOver={isOver} chooser={filesRef} onFiles={queue.add} onSource={setSource} />}
      <UploadList queue={queue} />
      <ImportList kbId={kb.id} mayWrite={mayWrite} />
      <DocumentFilterBar filter={filter} searchRef={searchRef} onChange={setFilter} />
      <Pages
        query={documents}
        skeleton="h-13 w-full rounded-lg"
        empty={
          <EmptyState
            icon={FileText}
            title={t(isFiltered ? "knowledge.noMatch" : "knowledge.noDocuments")}
            text={t(isFiltered ? "knowledge.noMatchText" : "knowledge.noDocumentsText")}
          />
        }
      >
        <ul className="divide-y divide-line rounded-xl border border-line bg-surface">
          {itemsOf(documents).map((item) => (
            <DocumentRow key={item.id} item={item} mayWrite={mayWrite} />
          ))}
        </ul>
      </Pages>
      {source !== null && <SourceDialog kind={source} kbId={kb.id} onClose={() => setSource(null)} />}
    </div>
  );
}
