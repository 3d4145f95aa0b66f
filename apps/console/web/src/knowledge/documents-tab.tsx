import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { FileText, FileUp, Globe, Network, PenLine, Search, Upload as UploadIcon } from "lucide-react";
import { Suspense, lazy, useDeferredValue, useEffect, useRef, useState } from "react";
import type { DocumentItemStatus, KbItem } from "@svc/contracts";
import { documentsQuery, importsQuery } from "../api/kb.ts";
import { useCommands } from "../app/command-registry.ts";
import { useServices } from "../app/services.ts";
import { useProject, useRights } from "../app/use-session.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { Button } from "../ui/button.tsx";
import { EmptyState } from "../ui/empty-state.tsx";
import { FaultNotice } from "../ui/fault-notice.tsx";
import { SelectField } from "../ui/field.tsx";
import { PendingDialog } from "../ui/pending-dialog.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { DocumentRow } from "./document-row.tsx";
import { ImportList } from "./import-list.tsx";
import type { SourceKind } from "./source-dialog.tsx";
import { UploadList } from "./upload-list.tsx";
import { useFileDrop } from "./use-file-drop.ts";
import { ACCEPTED_FILES, useUploads } from "./use-uploads.ts";

const SourceDialog = lazy(async () => ({ default: (await import("./source-dialog.tsx")).SourceDialog }));

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
        <FaultNotice fault={documents.error} onRetry={() => void documents.refetch()} />
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
      <Suspense fallback={<PendingDialog />}>
        {source !== null && <SourceDialog kind={source} kbId={kb.id} onClose={() => setSource(null)} />}
      </Suspense>
    </div>
  );
}
