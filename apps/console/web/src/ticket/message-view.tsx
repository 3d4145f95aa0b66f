import { ClipboardList, Link2 } from "lucide-react";
import type { TicketDetail, TicketMessage } from "@svc/contracts";
import { useTexts } from "../i18n/use-texts.ts";
import { customerName, isTask, taskText } from "../inbox/describe-ticket.ts";
import { Avatar } from "../ui/avatar.tsx";
import { Badge } from "../ui/badge.tsx";
import { Markdown, OutLink } from "../ui/markdown.tsx";
import { FILE_CHIP, FileButton } from "./file-button.tsx";

const WEB = /^https?:\/\//i;
/** A file that the service keeps itself. */
const OWN_FILE = /^\/api\/v1\/admin\/tickets\/[\w-]+\/files\/([\w-]+)$/;

/** A file that came with a message. Whatever it is, it is handed to the computer as a file, never shown or run here. */
function AttachmentChip({
  ticket,
  attachment: { expired = false, name, type, url },
}: {
  ticket: TicketDetail;
  attachment: TicketMessage["attachments"][number];
}) {
  const { t } = useTexts();
  const label = name ?? type;
  if (expired) {
    return (
      <span className={FILE_CHIP} title={t("ticket.fileExpiredHint")}>
        <bdi className="truncate">{label}</bdi>
        <span className="shrink-0 font-normal text-muted">{t("ticket.fileExpired")}</span>
      </span>
    );
  }
  const fileId = OWN_FILE.exec(url ?? "")?.[1];
  if (url === undefined || (fileId === undefined && !WEB.test(url))) return <span className={FILE_CHIP}>{label}</span>;
  if (fileId === undefined) {
    return (
      <span className={FILE_CHIP}>
        <Link2 aria-hidden className="size-3.5 shrink-0 text-faint" />
        <span className="truncate">
          <OutLink href={url}>{label}</OutLink>
        </span>
      </span>
    );
  }
  return <FileButton ticket={ticket} fileId={fileId} name={label} />;
}

/** What a customer has written. */
export function MessageView({ ticket, message }: { ticket: TicketDetail; message: TicketMessage }) {
  const { dateTime, t, timeOfDay } = useTexts();
  const { attachments, attempts, createdAt, failure, state } = message;
  const isOfTask = isTask(ticket);
  const name = isOfTask ? t("task.description") : customerName(ticket, t);
  const text = isOfTask ? taskText(message.text, ticket.subject) : message.text;
  return (
    <article aria-label={isOfTask ? name : t("ticket.messageOf", { name })} className="flex gap-2.5 pr-12 max-sm:pr-4">
      {isOfTask ? <ClipboardList aria-hidden className="mx-1 size-5 shrink-0 text-faint" /> : <Avatar name={name} />}
      <div className="min-w-0">
        <p className="mb-1 flex items-baseline gap-2 text-xs text-muted">
          <bdi className="truncate font-medium text-ink">{name}</bdi>
          <time dateTime={createdAt} title={dateTime(createdAt)} className="shrink-0 text-faint">
            {timeOfDay(createdAt)}
          </time>
          {state === "failed" && <Badge tone="bad">{t("message.failed", { count: attempts })}</Badge>}
          {state === "rejected" && <Badge>{t("message.rejected")}</Badge>}
          {state === "received" && <Badge tone="accent">{t("message.received")}</Badge>}
        </p>
        {text !== "" && (
          <div className="w-fit max-w-full rounded-2xl rounded-tl-sm bg-sunken px-3.5 py-2.5">
            <Markdown text={text} />
          </div>
        )}
        {failure !== null && state === "failed" && <p className="mt-1 text-xs text-bad">{failure}</p>}
        {attachments.length > 0 && (
          <ul aria-label={t("ticket.files")} className="mt-1.5 flex flex-wrap gap-1.5">
            {attachments.map((attachment, index) => (
              <li key={index} className="max-w-full">
                <AttachmentChip ticket={ticket} attachment={attachment} />
              </li>
            ))}
          </ul>
        )}
      </div>
    </article>
  );
}
