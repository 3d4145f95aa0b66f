import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ChevronRight, EyeOff, PenLine, RotateCcw } from "lucide-react";
import type { Gap } from "@svc/contracts";
import { gapQuery } from "../api/gaps.ts";
import { useServices } from "../app/services.ts";
import { useProject, useRights } from "../app/use-session.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { describeReason } from "../ticket/describe-reason.ts";
import { Ago } from "../ui/ago.tsx";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { FaultNotice } from "../ui/fault-notice.tsx";
import { Markdown } from "../ui/markdown.tsx";
import { Skeleton } from "../ui/skeleton.tsx";

function AnswerNow({ id }: { id: string }) {
  const { t, percent } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const gap = useQuery(gapQuery(connection, project, id));
  if (gap.isPending) return <Skeleton className="h-16 w-full" />;
  if (gap.isError) return <FaultNotice fault={gap.error} onRetry={() => void gap.refetch()} />;
  const { answerNow } = gap.data;
  if (answerNow === null) return <p className="text-sm text-muted">{t("gap.nobody")}</p>;
  return (
    <div className="flex flex-col gap-2">
      <p className="flex flex-wrap items-center gap-2 text-xs text-muted">
        <Badge tone={answerNow.sends ? "ok" : "warn"}>{t(answerNow.sends ? "search.sends" : "search.holds")}</Badge>
        {t("search.confidence", { share: percent(answerNow.confidence) })}
      </p>
      {answerNow.text !== null && (
        <div className="max-h-48 overflow-y-auto text-sm" tabIndex={0} role="region" aria-label={t("gap.answerNow")}>
          <Markdown text={answerNow.text} />
        </div>
      )}
      <p className="text-xs wrap-anywhere text-muted">
        {describeReason(answerNow.why, { t, percent, nameOf: String })}
      </p>
    </div>
  );
}

/** A question that found no good answer: how often, in which words, and what would be answered now. */
export function GapRow({
  gap,
  isOpen,
  onToggle,
  onWrite,
  onMark,
}: {
  gap: Gap;
  isOpen: boolean;
  onToggle: () => void;
  onWrite: () => void;
  onMark: (status: Gap["status"]) => void;
}) {
  const { t, number } = useTexts();
  const project = useProject();
  const mayDo = useRights();
  const { count, examples, id, language, lastAt, question, status } = gap;
  return (
    <li>
      <div className="flex items-center gap-2 pr-3">
        <button
          type="button"
          data-row={id}
          aria-expanded={isOpen}
          onClick={onToggle}
          className="flex min-w-0 flex-1 items-center gap-3 rounded-lg py-2.5 pr-2 pl-3 text-left -outline-offset-2"
        >
          <ChevronRight
            aria-hidden
            className={`size-4 shrink-0 text-faint transition-transform ${isOpen ? "rotate-90" : ""}`}
          />
          <span
            className="flex h-6 min-w-8 shrink-0 items-center justify-center rounded-full bg-sunken px-2 text-xs font-semibold tabular-nums"
            title={t("gap.asked", { n: count })}
          >
            <span aria-hidden>{number(count)}</span>
            <span className="sr-only">{t("gap.asked", { n: count })}</span>
          </span>
          <span className={`min-w-0 flex-1 text-sm font-medium ${isOpen ? "wrap-anywhere" : "truncate"}`} dir="auto">
            {question}
          </span>
          <span className="shrink-0 text-xs text-muted max-sm:hidden">
            {language !== null && `${language.toUpperCase()} · `}
            <Ago time={lastAt} />
          </span>
        </button>
        {mayDo("kb:write") && (
          <Button size="small" onClick={onWrite} aria-label={t("gap.writeFor", { question })}>
            <PenLine aria-hidden className="size-3.5" />
            <span className="max-sm:sr-only">{t("gap.write")}</span>
          </Button>
        )}
      </div>
      {isOpen && (
        <div className="animate-appear grid gap-4 border-t border-line bg-page px-4 py-3.5 md:grid-cols-2">
          <section className="min-w-0">
            <h2 className="mb-1.5 text-xs font-semibold text-muted">{t("gap.examples")}</h2>
            <ul className="flex flex-col gap-1.5">
              {examples.map(({ at, text, ticketId }) => (
                <li key={`${ticketId} ${at}`} className="flex items-baseline gap-2 text-sm">
                  <span className="line-clamp-3 min-w-0 flex-1 wrap-anywhere" dir="auto">
                    {text}
                  </span>
                  <Link
                    to="/$project/inbox/$view/$ticketId"
                    params={{ project, view: "all", ticketId }}
                    className="shrink-0 text-xs font-medium text-accent hover:underline"
                  >
                    <span className="sr-only">{t("gap.ticket")} </span>
                    <Ago time={at} />
                  </Link>
                </li>
              ))}
            </ul>
          </section>
          <section className="min-w-0">
            <h2 className="mb-1.5 text-xs font-semibold text-muted">{t("gap.answerNow")}</h2>
            <AnswerNow id={id} />
          </section>
          {mayDo("tickets:write") && (
            <div className="flex gap-2 md:col-span-2">
              {status !== "ignored" && (
                <Button size="small" look="quiet" onClick={() => onMark("ignored")}>
                  <EyeOff aria-hidden className="size-3.5" />
                  {t("gap.ignore")}
                </Button>
              )}
              {status !== "open" && (
                <Button size="small" look="quiet" onClick={() => onMark("open")}>
                  <RotateCcw aria-hidden className="size-3.5" />
                  {t("gap.reopen")}
                </Button>
              )}
            </div>
          )}
        </div>
      )}
    </li>
  );
}
