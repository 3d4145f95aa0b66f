import { FileCode, FileSpreadsheet, FileText, Globe, Trash2 } from "lucide-react";
import type { LucideIcon } from "lucide-react";
import { useState } from "react";
import type { DocumentItem, DocumentItemStatus } from "@svc/contracts";
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

/** A document: how far it is, why it could not be read, and a way to take it out. */
export function DocumentRow({ item, mayWrite }: { item: DocumentItem; mayWrite: boolean }) {
  const texts = useTexts();
  const { t } = texts;
  const { connection, queryClient, toasts } = useServices();
  const project = useProject();
  const [isDeleting, setDeleting] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const { bytes, chunks, error, id, kbId, key, language, status, title, updatedAt, url } = item;
  const Icon = iconOf(item);

  async function remove() {
    setBusy(true);
    try {
      await connection.call("deleteDocument", project, { params: { id: kbId, docId: id } });
      toasts.show({ kind: "done", text: t("document.deleted", { title }) });
    } catch (fault) {
      toasts.show({ kind: "fault", text: describeFault(fault, t) });
    } finally {
      setBusy(false);
      setDeleting(false);
      await queryClient.invalidateQueries({ queryKey: ["documents", project, kbId] });
      await queryClient.invalidateQueries({ queryKey: ["kbs", project] });
    }
  }

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
