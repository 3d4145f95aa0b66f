import type { TicketEvent } from "@svc/contracts";
import type { TextKey } from "../i18n/text-table.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { describeReason } from "./describe-reason.ts";
import type { ReasonWords } from "./describe-reason.ts";

/** Decisions that have words of their own. */
const DECISIONS: Readonly<Record<string, TextKey>> = {
  approve: "event.approve",
  edit: "event.edit",
  reject: "event.reject",
  regenerate: "event.regenerate",
  takeover: "event.takeover",
  assign: "event.assign",
  unassign: "event.unassign",
  reply: "event.reply",
  reroute: "event.reroute",
  resolve: "event.resolve",
  reopen: "event.reopen",
  retry: "event.retry",
  change: "event.change",
  approveToolCall: "event.approveToolCall",
  rejectToolCall: "event.rejectToolCall",
};

const textOf = (value: unknown) => (typeof value === "string" ? value : "");

/** What somebody has decided, in words. */
function describeEvent({ actor, data, moves }: TicketEvent, words: ReasonWords): string {
  const { t, nameOf } = words;
  const decision = textOf(data["decision"]);
  const { comment, score } = data;
  if (decision === "rate" && typeof score === "number") {
    return typeof comment === "string" ? t("event.rateComment", { score, comment }) : t("event.rate", { score });
  }
  const name = nameOf(actor);
  const to = textOf(data["assignee"]);
  const why = describeReason(moves.at(-1)?.why ?? "", words);
  const key = Object.hasOwn(DECISIONS, decision) ? DECISIONS[decision] : undefined;
  return key === undefined
    ? t("event.other", { name, what: why === "" ? decision : why })
    : t(key, { name, to: to === "" ? "" : nameOf(to), why });
}

/** What somebody has decided, in a line. */
export function EventLine({ event, nameOf }: { event: TicketEvent; nameOf: (actor: string) => string }) {
  const { dateTime, percent, t, timeOfDay } = useTexts();
  const { at } = event;
  return (
    <p className="flex items-baseline justify-center gap-2 px-4 text-center text-xs text-muted">
      <span className="min-w-0 wrap-anywhere">{describeEvent(event, { t, percent, nameOf })}</span>
      <time dateTime={at} title={dateTime(at)} className="shrink-0 text-faint">
        {timeOfDay(at)}
      </time>
    </p>
  );
}
