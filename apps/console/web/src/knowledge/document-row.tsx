import { FileCode, FileSpreadsheet, FileText, Globe, RotateCw, Trash2 } from "lucide-react";
import type { LucideIcon } from "lucide-react";
import { useState } from "react";
import type { DocumentItem, DocumentItemStatus } from "@svc/contracts";
import { addDocument } from "../api/kb.ts";
import { useServices } from "../app/services.ts";
import { useProject } from "../app/use-session.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { Ago } from "../ui/ago.tsx";
import { Badge } from "../ui/badge.tsx";
import type { Tone } from "../ui/badge.tsx";
import { ConfirmDialog } from "../ui/confirm-dialog.tsx";
import { describeFault } from "../ui/describe-fault.ts";
import { IconButton } from "../ui/icon-button.tsx";
import { OutLink } from "../ui/markdown.tsx";
import { formatBytes } from "./format-bytes.ts";

const TONES = { queued: "accent", ready: "ok", failed: "bad" } as const satisfies Record<DocumentItemStatus, Tone>;

function iconOf({ mime, url }: DocumentItem): LucideIcon {
  if (mime.includes("sheet") || mime === "text/csv") return FileSpreadsheet;
  if (mime === "text/html") return url === null ? FileCode : Globe;
  return FileText;
}

/** True for what was fetched from its address, and was not written by somebody who only names one. */
const isPage = ({ key, mime, url }: DocumentItem) => key === url && mime !== "text/markdown" && mime !== "text/plain";

/** A document: how far it is, why it could not be read, and ways to take it out and to fetch a page anew. */
export function DocumentRow({ item, mayWrite }: { item: DocumentItem; mayWrite: boolean }) {
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
    } catch (fault) {
      toasts.show({ kind: "fault", text: describeFault(fault, t) });
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
  const fetchAnew = (address: string) =>
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
          onClick={() => void fetchAnew(url)}
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
