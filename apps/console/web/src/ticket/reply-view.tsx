import { Bot, Check, CheckCheck, User, Zap } from "lucide-react";
import type { Source, TicketDetail, TicketReply } from "@svc/contracts";
import type { TextKey } from "../i18n/text-table.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { Markdown, PlainText } from "../ui/markdown.tsx";
import { sizeText } from "../ui/size-text.ts";
import { FileButton } from "./file-button.tsx";
import { SourceChips } from "./source-chips.tsx";

const AUTHORS = {
  agent: { icon: Bot, title: "author.agent" },
  operator: { icon: User, title: "author.operator" },
  system: { icon: Zap, title: "author.system" },
} as const satisfies Record<TicketReply["author"], { icon: typeof Bot; title: TextKey }>;

/** What the customer was answered. */
export function ReplyView({
  reply,
  ticket,
  onSource,
}: {
  reply: TicketReply;
  ticket: Pick<TicketDetail, "id" | "project">;
  onSource: (source: Source) => void;
}) {
  const { dateTime, number, t, timeOfDay } = useTexts();
  const { author, createdAt, deliveredAt } = reply;
  const { icon: Icon, title } = AUTHORS[author];
  const Tick = deliveredAt === null ? Check : CheckCheck;
  const delivery = deliveredAt === null ? t("reply.waiting") : t("reply.delivered", { time: dateTime(deliveredAt) });
  return (
    <article aria-label={t(title)} className="flex flex-col items-end pl-12 max-sm:pl-4">
      <p className="mb-1 flex items-center gap-1.5 text-xs text-muted">
        <Icon aria-hidden className="size-3.5 text-faint" />
        <span className="font-medium text-ink">{t(title)}</span>
        <time dateTime={createdAt} title={dateTime(createdAt)} className="text-faint">
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
        <FileButton ticket={ticket} fileId={reply.id} name={reply.filename} size={sizeText(reply.sizeBytes, number)} />
      )}
    </article>
  );
}
