import { Bot, Check, CheckCheck, Paperclip, User, Zap } from "lucide-react";
import type { ChannelId, Source, TicketReply } from "@svc/contracts";
import type { TextKey } from "../i18n/text-table.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { Markdown, PlainText } from "../ui/markdown.tsx";
import { SourceChips } from "./source-chips.tsx";

const AUTHORS = {
  agent: { icon: Bot, title: "author.agent" },
  operator: { icon: User, title: "author.operator" },
  system: { icon: Zap, title: "author.system" },
} as const satisfies Record<TicketReply["author"], { icon: typeof Bot; title: TextKey }>;

const UNITS = ["B", "kB", "MB", "GB"];

/** A size as people write it: 12 kB. */
function sizeText(bytes: number, number: (value: number) => string): string {
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), UNITS.length - 1);
  return `${number(bytes / 1000 ** power)} ${UNITS[power] ?? "B"}`;
}

/** What the customer was answered. */
export function ReplyView({
  reply,
  onSource,
}: {
  reply: TicketReply;
  channelId: ChannelId;
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
        <p className="flex max-w-full items-center gap-1.5 rounded-xl bg-accent-soft px-3 py-2 text-sm">
          <Paperclip aria-hidden className="size-4 shrink-0 text-muted" />
          <span dir="auto" className="truncate font-medium">
            {reply.filename}
          </span>
          <span className="shrink-0 text-xs text-muted">{sizeText(reply.sizeBytes, number)}</span>
        </p>
      )}
    </article>
  );
}
