import { Link } from "@tanstack/react-router";
import type { ReplayItem, ReplaySide } from "@svc/contracts";
import { useProject } from "../app/use-session.ts";
import type { TextKey } from "../i18n/text-table.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { Badge } from "../ui/badge.tsx";
import type { Tone } from "../ui/badge.tsx";
import { Markdown } from "../ui/markdown.tsx";

const VERDICTS: Record<ReplayItem["verdict"], { title: TextKey; tone: Tone }> = {
  better: { title: "replay.better", tone: "ok" },
  worse: { title: "replay.worse", tone: "bad" },
  same: { title: "replay.same", tone: "plain" },
};

function Side({ title, side }: { title: string; side: ReplaySide }) {
  const { percent, t } = useTexts();
  const { confidence, markdown, model, sends, sendsWhy, text, tokenF1 } = side;
  return (
    <div className="min-w-0 rounded-lg border border-line p-3">
      <h4 className="flex flex-wrap items-center justify-between gap-2 text-xs font-semibold">
        {title}
        <span title={sendsWhy}>
          <Badge tone={sends ? "ok" : "plain"}>{t(sends ? "replay.wouldSend" : "replay.wouldHold")}</Badge>
        </span>
      </h4>
      <div className="mt-1.5 max-h-60 overflow-y-auto text-sm wrap-anywhere" tabIndex={0} dir="auto">
        {text === null ? (
          <p className="text-muted">{t("replay.noAnswer")}</p>
        ) : markdown ? (
          <Markdown text={text} />
        ) : (
          <p className="whitespace-pre-line">{text}</p>
        )}
      </div>
      <p className="mt-2 text-xs text-muted">
        {[
          t("replay.sure", { share: percent(confidence) }),
          `${t("replay.nearness")}: ${percent(tokenF1)}`,
          ...(model === null ? [] : [model]),
        ].join(" · ")}
      </p>
    </div>
  );
}

/** One past reply: what was asked, what a person sent, and what the agent would answer before and after. */
export function ReplayCard({ item }: { item: ReplayItem }) {
  const { dateTime, t } = useTexts();
  const project = useProject();
  const { after, before, decidedAt, question, sent, ticketId, verdict } = item;
  const { title, tone } = VERDICTS[verdict];
  return (
    <li className="flex flex-col gap-3 px-4 py-4">
      <div className="flex items-start gap-2">
        <Badge tone={tone}>{t(title)}</Badge>
        <p className="min-w-0 flex-1 text-sm font-medium wrap-anywhere whitespace-pre-line" dir="auto">
          {question}
        </p>
      </div>
      <div>
        <p className="mb-1 text-xs text-muted">
          {t("replay.sent")} · {dateTime(decidedAt)} ·{" "}
          <Link
            to="/$project/inbox/$view/$ticketId"
            params={{ project, view: "all", ticketId }}
            className="font-medium text-accent underline"
          >
            {t("replay.openTicket")}
          </Link>
        </p>
        <p
          className="max-h-40 overflow-y-auto rounded-lg bg-sunken px-3 py-2 text-sm wrap-anywhere whitespace-pre-line"
          tabIndex={0}
          dir="auto"
        >
          {sent.text}
        </p>
      </div>
      <div className="grid gap-3 md:grid-cols-2">
        <Side title={t("replay.before")} side={before} />
        <Side title={t("replay.after")} side={after} />
      </div>
    </li>
  );
}
