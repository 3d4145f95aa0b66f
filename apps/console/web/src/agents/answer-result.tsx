import { CircleCheck, UserRound } from "lucide-react";
import type { Agent, AgentResult } from "@svc/contracts";
import { useTexts } from "../i18n/use-texts.ts";
import { describeReason } from "../ticket/describe-reason.ts";
import { Badge } from "../ui/badge.tsx";
import { Markdown, PlainText } from "../ui/markdown.tsx";
import { sendsAlone } from "./sends-alone.ts";

/** What decides whether an answer goes out by itself. */
export type Policy = Pick<Agent, "autoThreshold" | "reviewPolicy">;

/** What an agent answers, how sure it is and whether that would go out without a person, with its sources. */
export function AnswerResult({ result, policy }: { result: AgentResult; policy: Policy }) {
  const { t, percent, duration } = useTexts();
  const { confidence, durationMs, output, sources, why } = result;
  const isSent = output.text !== null && sendsAlone(policy, confidence);
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <Badge tone={isSent ? "ok" : "warn"}>
          {isSent ? <CircleCheck aria-hidden className="size-3" /> : <UserRound aria-hidden className="size-3" />}
          {t(isSent ? "search.sends" : "search.holds")}
        </Badge>
        <span className="text-xs text-muted">
          {t("search.confidence", { share: percent(confidence) })} · {duration(durationMs)}
        </span>
      </div>
      {output.text === null ? (
        <p className="text-sm text-muted">{t("search.noAnswer")}</p>
      ) : (
        <div className="text-sm">
          {output.markdown ? <Markdown text={output.text} /> : <PlainText text={output.text} />}
        </div>
      )}
      {sources.length > 0 && (
        <div>
          <h3 className="mb-1 text-xs font-semibold text-muted">{t("search.sources")}</h3>
          <ol className="flex flex-col gap-1.5">
            {sources.map(({ chunkId, quote, excerpt, title }) => (
              <li key={chunkId} className="border-l-2 border-line pl-2.5 text-xs" dir="auto">
                <p className="font-medium wrap-anywhere">{title}</p>
                <p className="line-clamp-3 text-muted">{excerpt ?? quote}</p>
              </li>
            ))}
          </ol>
        </div>
      )}
      <p className="text-xs wrap-anywhere text-muted">{describeReason(why, { t, percent, nameOf: String })}</p>
    </div>
  );
}
