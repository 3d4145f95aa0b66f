import { useQuery } from "@tanstack/react-query";
import { Download, ClipboardList, Link2, Bot, Check, CheckCheck, User, Zap, StickyNote } from "lucide-react";
import type { Agent, Source, TicketDetail, TicketMessage, TicketReply, TicketEvent } from "@svc/contracts";
import { Suspense, lazy, memo, useMemo, useState } from "react";
import type { ComponentProps } from "react";
import { fillText, textOf, useTexts } from "../i18n/texts.ts";
import type { TextKey, Texts } from "../i18n/texts.ts";
import { agentsQuery, agentTitle } from "../api/administration.ts";
import { actorOf } from "../api/session.ts";
import { customerName, isTask, taskText } from "../inbox/describe-ticket.ts";
import { useServices, usePeople } from "../session/services.ts";
import { Avatar, Badge } from "../ui/badge.tsx";
import { describeError } from "../ui/describe-error.ts";
import { Markdown, OutLink, PlainText, TypedText } from "../ui/markdown.tsx";
import { formatBytes, saveFile } from "../ui/files.ts";
import { SourceChips } from "./draft-bar.tsx";
import { describeReason } from "./describe-reason.ts";
import type { ReasonWords } from "./describe-reason.ts";
import { buildTimeline, changedTags, changeOf, replacedTag, replyActionsOf } from "./read-ticket.ts";
import type { History } from "./read-ticket.ts";
import { ActionChips } from "./reply-actions.tsx";

/** Styles of the files and links of a conversation. */
const FILE_CHIP =
  "inline-flex max-w-full items-center gap-1.5 rounded-md border border-line bg-surface px-2 py-1 text-xs font-medium hover:bg-hover";

// Loaded when the first image is shown.
const ImageView = lazy(async () => ({ default: (await import("./image-view.tsx")).ImageView }));

/** Types of files whose bytes are fetched to check whether they are an image. */
const MAY_BE_IMAGE = /^image\/(?:png|jpeg|gif|webp)$/i;

/** A file of a ticket. Images are shown; all other files can only be downloaded, never shown or run. */
function FileView({ type, ...file }: ComponentProps<typeof FileButton> & { type: string }) {
  if (!MAY_BE_IMAGE.test(type)) return <FileButton {...file} />;
  return (
    <>
      <Suspense fallback={null}>
        <ImageView ticket={file.ticket} fileId={file.fileId} name={file.name} />
      </Suspense>
      <FileButton {...file} />
    </>
  );
}

/** Button that downloads a file of a ticket. */
function FileButton({
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
  async function download() {
    setBusy(true);
    try {
      saveFile(await connection.fetchFile(`/api/v1/admin/tickets/${ticket.id}/files/${fileId}`, ticket.project), name);
    } catch (error) {
      toasts.show({ kind: "error", text: describeError(error, t) });
    } finally {
      setBusy(false);
    }
  }
  return (
    <button type="button" aria-busy={isBusy} onClick={() => void download()} className={FILE_CHIP}>
      <Download aria-hidden className="size-3.5 shrink-0 text-faint" />
      <span dir="auto" className="truncate">
        {name}
      </span>
      {size !== undefined && <span className="shrink-0 font-normal text-muted">{size}</span>}
      <span className="sr-only">({t("ticket.download")})</span>
    </button>
  );
}

const WEB_URL = /^https?:\/\//i;
/** URL of a file that the service stores. */
const STORED_FILE = /^\/api\/v1\/admin\/tickets\/[\w-]+\/files\/([\w-]+)$/;

/** An attachment of a message: a file, or a link to one. */
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
  const fileId = STORED_FILE.exec(url ?? "")?.[1];
  if (url === undefined || (fileId === undefined && !WEB_URL.test(url)))
    return <span className={FILE_CHIP}>{label}</span>;
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
  return <FileView ticket={ticket} fileId={fileId} name={label} type={type} />;
}

/** A message of the customer. */
function MessageView({ ticket, message }: { ticket: TicketDetail; message: TicketMessage }) {
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
            {isOfTask ? <Markdown text={text} /> : <TypedText text={text} />}
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

const AUTHORS = {
  agent: { icon: Bot, title: "author.agent" },
  operator: { icon: User, title: "author.operator" },
  system: { icon: Zap, title: "author.system" },
} as const satisfies Record<TicketReply["author"], { icon: typeof Bot; title: TextKey }>;

/** A reply to the customer. */
function ReplyView({
  name,
  reply,
  ticket,
  onSource,
}: {
  /** Name of its author; null if unknown. */
  name: string | null;
  reply: TicketReply;
  ticket: Pick<TicketDetail, "id" | "project">;
  onSource: (source: Source) => void;
}) {
  const texts = useTexts();
  const { dateTime, t, timeOfDay } = texts;
  const { author, createdAt, deliveredAt } = reply;
  const { icon: Icon, title } = AUTHORS[author];
  const authorName = name ?? t(title);
  const Tick = deliveredAt === null ? Check : CheckCheck;
  const delivery = deliveredAt === null ? t("reply.waiting") : t("reply.delivered", { time: dateTime(deliveredAt) });
  return (
    <article aria-label={authorName} className="flex flex-col items-end pl-12 max-sm:pl-4">
      <p className="mb-1 flex items-center gap-1.5 text-xs text-muted">
        <Icon aria-hidden className="size-3.5 text-faint" />
        <bdi className="truncate font-medium text-ink">{authorName}</bdi>
        <time dateTime={createdAt} title={dateTime(createdAt)} className="shrink-0 text-faint">
          {timeOfDay(createdAt)}
        </time>
        <span
          role="img"
          aria-label={delivery}
          title={delivery}
          className={deliveredAt === null ? "text-faint" : "text-ok"}
        >
          <Tick aria-hidden className="size-3.5" />
        </span>
      </p>
      {reply.type === "message" ? (
        <div className="w-fit max-w-full rounded-2xl rounded-tr-sm bg-accent-soft px-3.5 py-2.5">
          {reply.markdown ? <Markdown text={reply.text} /> : <PlainText text={reply.text} />}
          <SourceChips sources={reply.sources} onSource={onSource} />
        </div>
      ) : (
        <FileView
          ticket={ticket}
          fileId={reply.id}
          name={reply.filename}
          type={reply.mime}
          size={formatBytes(reply.sizeBytes, texts)}
        />
      )}
    </article>
  );
}

/** An internal note. */
function NoteView({ name, at, text }: { name: string; at: string; text: string }) {
  const { dateTime, t, timeOfDay } = useTexts();
  return (
    <article
      aria-label={t("note.of", { name })}
      className="rounded-lg border border-warn/25 bg-warn-soft px-3.5 py-2.5"
    >
      <p className="mb-1 flex items-center gap-1.5 text-xs text-muted">
        <StickyNote aria-hidden className="size-3.5 text-warn" />
        <span className="font-medium text-ink">{name}</span>
        <time dateTime={at} title={dateTime(at)}>
          {timeOfDay(at)}
        </time>
        <span>· {t("note.internal")}</span>
      </p>
      <Markdown text={text} />
    </article>
  );
}

const stringOf = (value: unknown) => (typeof value === "string" ? value : "");

/** Returns a sentence that describes an event. */
function describeEvent(
  { actor, data, moves }: TicketEvent,
  words: ReasonWords & { dateTime: Texts["dateTime"] },
): string {
  const { dateTime, t, nameOf } = words;
  const decision = stringOf(data["decision"]);
  if (actor === "pipeline" && data["resolves"] === true) return t("event.resolvedByReply");
  const { comment, score } = data;
  if (decision === "rate" && typeof score === "number") {
    return typeof comment === "string" ? t("event.rateComment", { score, comment }) : t("event.rate", { score });
  }
  if (decision === "unsnooze" && actor === "service") return t("event.snoozeOver");
  if (decision === "sla_breached") {
    return t("event.slaBreached", { target: textOf(t, "deadline", stringOf(data["target"]), "") });
  }
  const name = nameOf(actor);
  if (decision === "snooze") {
    const until = stringOf(data["until"]);
    return until === "" ? t("event.snoozeReply", { name }) : t("event.snooze", { name, time: dateTime(until) });
  }
  const tag = replacedTag(data);
  if (tag !== null) {
    return tag.to === null
      ? t("event.tagDeleted", { name, from: tag.from })
      : t("event.tagReplaced", { name, from: tag.from, to: tag.to });
  }
  const tags = changedTags(data);
  if (tags !== null) return t(tags.length === 0 ? "event.noTags" : "event.tags", { name, tags: tags.join(", ") });
  const { priority, subject } = changeOf(data);
  if (typeof priority === "string") {
    return t("event.priority", { name, priority: textOf(t, "priority", priority, priority) });
  }
  if (typeof subject === "string") return t("event.subject", { name, subject });
  const to = stringOf(data["assignee"]);
  if (decision === "assign" && actor === "service") return t("event.assignedInTurn", { to: nameOf(to) });
  const why = describeReason(moves.at(-1)?.why ?? "", words);
  const known = decision === "rate" ? "" : textOf(t, "event", decision, "");
  return known === ""
    ? t("event.other", { name, what: why === "" ? decision : why })
    : fillText(known, { name, to: to === "" ? "" : nameOf(to), why });
}

/** An event, in one line. */
function EventLine({ event, nameOf }: { event: TicketEvent; nameOf: (actor: string) => string }) {
  const { dateTime, percent, t, timeOfDay } = useTexts();
  const { at, data } = event;
  const actions = replyActionsOf(data);
  return (
    <p className="flex items-baseline justify-center gap-2 px-4 text-center text-xs text-muted">
      <span className="inline-flex min-w-0 flex-wrap items-center justify-center gap-1 wrap-anywhere">
        {describeEvent(event, { dateTime, t, percent, nameOf })}
        {actions !== null && <ActionChips actions={actions} />}
      </span>
      <time dateTime={at} title={dateTime(at)} className="shrink-0 text-faint">
        {timeOfDay(at)}
      </time>
    </p>
  );
}

/** Returns the name of the operator or agent who wrote a reply; null if unknown. */
function authorNameOf(
  { author, authorId }: Pick<TicketReply, "author" | "authorId">,
  { agents, nameOf, t }: { agents: readonly Agent[]; nameOf: (actor: string) => string; t: Texts["t"] },
): string | null {
  if (authorId === null || author === "system") return null;
  if (author === "operator") return nameOf(actorOf(authorId));
  const agent = agents.find(({ id }) => id === authorId);
  return agent === undefined ? null : agentTitle(agent.name, t);
}

/** The messages, replies, internal notes and events of a ticket. */
export const Conversation = memo(function Conversation({
  ticket,
  history: { events, messages, replies },
  onSource,
}: {
  ticket: TicketDetail;
  history: History;
  onSource: (source: Source) => void;
}) {
  const { day, t } = useTexts();
  const { nameOf } = usePeople();
  const { connection } = useServices();
  const { data: agents = [] } = useQuery(agentsQuery(connection, ticket.project));
  const entries = useMemo(
    () => buildTimeline({ messages, replies, events }, (time) => new Date(time).toDateString()),
    [messages, replies, events],
  );
  return (
    <ol className="flex flex-col gap-3">
      {entries.map((entry) => (
        <li key={entry.key}>
          {entry.kind === "day" && (
            <p className="flex items-center gap-3 py-1 text-2xs font-medium text-faint before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
              {day(entry.at)}
            </p>
          )}
          {entry.kind === "message" && <MessageView ticket={ticket} message={entry.message} />}
          {entry.kind === "reply" && (
            <ReplyView
              name={authorNameOf(entry.reply, { agents, nameOf, t })}
              reply={entry.reply}
              ticket={ticket}
              onSource={onSource}
            />
          )}
          {entry.kind === "note" && <NoteView name={nameOf(entry.actor)} at={entry.at} text={entry.text} />}
          {entry.kind === "event" && <EventLine event={entry.event} nameOf={nameOf} />}
        </li>
      ))}
    </ol>
  );
});
