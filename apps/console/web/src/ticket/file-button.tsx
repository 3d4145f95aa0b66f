import { Download } from "lucide-react";
import { useState } from "react";
import { useServices } from "../app/services.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { describeFault } from "../ui/describe-fault.ts";

/** How files and links of a conversation look. */
export const FILE_CHIP =
  "inline-flex max-w-full items-center gap-1.5 rounded-md border border-line bg-surface px-2 py-1 text-xs font-medium hover:bg-hover";

/** A file of a ticket. Whatever it is, it is handed to the computer as a file, never shown or run here. */
export function FileButton({
  ticket,
  fileId,
  name,
  size,
}: {
  ticket: { id: string; project: string };
  fileId: string;
  name: string;
  size?: string;
}) {
  const { t } = useTexts();
  const { connection, toasts } = useServices();
  const [isBusy, setBusy] = useState(false);
  async function save() {
    setBusy(true);
    try {
      const bytes = await connection.fetchFile(`/api/v1/admin/tickets/${ticket.id}/files/${fileId}`, ticket.project);
      // Of no type that a browser would show.
      const address = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
      const link = Object.assign(document.createElement("a"), { href: address, download: name });
      link.click();
      URL.revokeObjectURL(address);
    } catch (fault) {
      toasts.show({ kind: "fault", text: describeFault(fault, t) });
    } finally {
      setBusy(false);
    }
  }
  return (
    <button type="button" aria-busy={isBusy} onClick={() => void save()} className={FILE_CHIP}>
      <Download aria-hidden className="size-3.5 shrink-0 text-faint" />
      <span dir="auto" className="truncate">
        {name}
      </span>
      {size !== undefined && <span className="shrink-0 font-normal text-muted">{size}</span>}
      <span className="sr-only">({t("ticket.download")})</span>
    </button>
  );
}
