import { ArrowUp, Bot, CalendarClock, ChevronsUp, ClipboardList, Clock, PenLine } from "lucide-react";
import type { LucideIcon } from "lucide-react";
import { CHANNELS } from "@svc/contracts";
import type { TicketItem, TicketPriority, TicketStage, TicketStatus } from "@svc/contracts";
import { useTexts } from "../i18n/texts.ts";
import type { TextKey } from "../i18n/texts.ts";
import { unsentPrefixOf, useServices, useSession } from "../session/services.ts";
import { Badge, CHANNEL_ICONS, useNow } from "../ui/badge.tsx";
import type { Tone } from "../ui/badge.tsx";
import { isOverdue, isTask, taskDue } from "./describe-ticket.ts";

interface Channel {
  icon: LucideIcon;
  title: TextKey;
}

const TASK: Channel = { icon: ClipboardList, title: "task.title" };

/** Returns the channel of a ticket; tasks have none of their own. */
export const channelOf = (ticket: Pick<TicketItem, "channelId" | "origin">): Channel =>
  isTask(ticket)
    ? TASK
    : { icon: CHANNEL_ICONS[CHANNELS[ticket.channelId].icon], title: `channel.${ticket.channelId}` };

/** The channel as an icon with its name. */
export function ChannelMark({ ticket }: { ticket: Pick<TicketItem, "channelId" | "origin"> }) {
  const { t } = useTexts();
  const { icon: Icon, title } = channelOf(ticket);
  return (
    <span role="img" aria-label={t(title)} title={t(title)} className="inline-flex shrink-0 text-faint">
      <Icon aria-hidden className="size-3.5" />
    </span>
  );
}

const TONES: Partial<Record<TicketStage, Tone>> = { review: "warn", done: "plain", failed: "bad" };

/** Returns the state of a ticket in one word: closed, or its stage in the pipeline. */
export function stateOf({ status, stage }: { status: TicketStatus; stage: TicketStage }): {
  tone: Tone;
  title: TextKey;
} {
  if (status === "resolved" || status === "spam") {
    return { tone: status === "spam" ? "bad" : "ok", title: `state.${status}` };
  }
  if (stage === "done" && status === "pending") return { tone: "plain", title: "state.waiting" };
  return { tone: TONES[stage] ?? "accent", title: `state.${stage}` };
}

/** The state as a badge. */
export function StateMark({
  ticket,
}: {
  ticket: Pick<TicketItem, "status" | "stage"> & Partial<Pick<TicketItem, "snooze">>;
}) {
  const { dateTime, t } = useTexts();
  const { snooze } = ticket;
  if (snooze != null) {
    const { until } = snooze;
    return (
      <Badge tone="plain">
        {until === null ? t("snooze.shownReply") : t("snooze.shown", { time: dateTime(until) })}
      </Badge>
    );
  }
  const { tone, title } = stateOf(ticket);
  return <Badge tone={tone}>{t(title)}</Badge>;
}

/** The priorities, lowest first. */
export const PRIORITIES: readonly TicketPriority[] = ["low", "normal", "high", "urgent"];

/** Returns the severity given by the sender of a task; null if there is none. */
export const severityOf = (value: unknown): TicketPriority | null => PRIORITIES.find((name) => name === value) ?? null;

/** A priority above the normal one, as an icon. */
export function PriorityMark({ priority }: { priority: TicketPriority }) {
  const { t } = useTexts();
  if (priority === "normal" || priority === "low") return null;
  const Icon = priority === "urgent" ? ChevronsUp : ArrowUp;
  const label = t(`priority.${priority}`);
  return (
    <span role="img" aria-label={label} title={label} className={priority === "urgent" ? "text-bad" : "text-warn"}>
      <Icon aria-hidden className="size-3.5" />
    </span>
  );
}

/** An unsent text of the operator in this browser, as an icon. */
export function UnsentMark({ ticketId }: { ticketId: string }) {
  const { t } = useTexts();
  const { storage } = useServices();
  const { operator } = useSession();
  if (storage.getItem(unsentPrefixOf(operator.id) + ticketId) === null) return null;
  return (
    <span role="img" aria-label={t("compose.unsent")} title={t("compose.unsent")} className="text-accent">
      <PenLine aria-hidden className="size-3.5" />
    </span>
  );
}

/** The due date of a task. */
export function DueMark({ ticket }: { ticket: Pick<TicketItem, "channel_meta" | "status"> }) {
  const { t, day } = useTexts();
  const isLate = isOverdue(ticket, useNow());
  const due = taskDue(ticket);
  if (due === null) return null;
  const label = t(isLate ? "task.overdue" : "task.due", { date: day(due) });
  return (
    <span
      title={label}
      className={`inline-flex shrink-0 items-center gap-1 text-2xs font-medium whitespace-nowrap ${isLate ? "text-bad" : "text-muted"}`}
    >
      <CalendarClock aria-hidden className="size-3.5" />
      <span className="sr-only">{label}</span>
      <span aria-hidden>{day(due)}</span>
    </span>
  );
}

/** The agent's confidence, in percent. */
export function ConfidenceMark({ confidence }: { confidence: number | null }) {
  const { t, percent } = useTexts();
  if (confidence === null || confidence === 0) return null;
  const label = t("ticket.confidence", { share: percent(confidence) });
  return (
    <span title={label} className="inline-flex items-center gap-1 text-2xs font-medium text-muted tabular-nums">
      <Bot aria-hidden className="size-3.5 text-faint" />
      <span className="sr-only">{label}</span>
      <span aria-hidden>{percent(confidence)}</span>
    </span>
  );
}

/** Time until a ticket is due by the SLA targets, or since when it is overdue; nothing without a deadline. */
export function DeadlineMark({ deadline }: Pick<TicketItem, "deadline">) {
  const { dateTime, duration, t } = useTexts();
  const nowMs = useNow();
  if (deadline === null) return null;
  const { dueAt, kind } = deadline;
  const remainingMs = Date.parse(dueAt) - nowMs;
  const isLate = remainingMs < 0;
  const text = t(isLate ? "deadline.late" : "deadline.due", { time: duration(Math.abs(remainingMs)) });
  return (
    <time
      dateTime={dueAt}
      title={`${t(`deadline.${kind}`)}: ${dateTime(dueAt)}`}
      className={`shrink-0 tabular-nums ${isLate ? "font-medium text-bad" : "text-muted"}`}
    >
      {text}
    </time>
  );
}

/** Wait after which it is shown as late if there are no SLA targets, in milliseconds. */
const LONG_WAIT_MS = 86_400_000;

/** Time since which the customer has been waiting for an answer, for tickets without a deadline by the SLA targets. */
export function WaitingMark({ since }: { since: string }) {
  const { ago, past, t } = useTexts();
  const nowMs = useNow();
  const isLong = nowMs - Date.parse(since) >= LONG_WAIT_MS;
  const label = t("ticket.waiting", { since: past(since, nowMs) });
  return (
    <time
      dateTime={since}
      title={label}
      className={`inline-flex shrink-0 items-center gap-1 tabular-nums ${isLong ? "font-medium text-warn" : "text-muted"}`}
    >
      <Clock aria-hidden className="size-3" />
      <span className="sr-only">{label}</span>
      <span aria-hidden>{ago(since, nowMs)}</span>
    </time>
  );
}
