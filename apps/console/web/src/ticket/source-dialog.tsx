import { useQuery } from "@tanstack/react-query";
import { ExternalLink } from "lucide-react";
import { useEffect, useRef } from "react";
import type { RefObject } from "react";
import { ServiceError } from "@svc/client";
import type { Source, TicketDetail } from "@svc/contracts";
import { useTexts } from "../i18n/texts.ts";
import { useServices } from "../session/services.ts";
import { Dialog } from "../ui/dialog.tsx";
import { OutLink } from "../ui/markdown.tsx";
import { ErrorNotice, Skeleton } from "../ui/notice.tsx";
import { splitQuote } from "./read-ticket.ts";

function QuotedPassage({ text, quote, mark }: { text: string; quote: string; mark: RefObject<HTMLElement | null> }) {
  const parts = splitQuote(text, quote);
  return (
    <>
      {parts.before}
      <mark ref={mark}>{parts.quote}</mark>
      {parts.after}
    </>
  );
}

/** Reads a passage with those around it; null if its document was changed or deleted since. */
function usePassage(project: string, id: string) {
  const { connection } = useServices();
  return useQuery({
    queryKey: ["passage", project, id],
    queryFn: async ({ signal }) => {
      try {
        return (await connection.call("getPassage", project, { params: { id }, signal })).item;
      } catch (error) {
        if (error instanceof ServiceError && error.status === 404) return null;
        throw error;
      }
    },
  });
}

/** The passage of a quote, highlighted, between the passages around it. */
export function SourceDialog({
  source,
  ticket,
  onClose,
}: {
  source: Source;
  ticket: TicketDetail;
  onClose: () => void;
}) {
  const { t } = useTexts();
  const mark = useRef<HTMLElement>(null);
  const passage = usePassage(ticket.project, source.chunkId);
  const isThere = passage.isSuccess;
  useEffect(() => {
    mark.current?.scrollIntoView({ block: "center" });
  }, [isThere]);
  const found = passage.data ?? null;
  const passages = found?.passages ?? [{ id: source.chunkId, headingPath: [], text: source.quote, page: null }];
  return (
    <Dialog title={found?.title ?? source.title} onClose={onClose}>
      <div className="px-5 py-4">
        {passage.isPending ? (
          <Skeleton className="h-40 w-full" />
        ) : (
          <ol className="flex flex-col gap-4">
            {passages.map(({ headingPath, id, page, text }, index) => (
              <li key={id} className={id === source.chunkId ? "" : "text-muted"}>
                {headingPath.length > 0 && headingPath.join() !== passages[index - 1]?.headingPath.join() && (
                  <h3 dir="auto" className="mb-1 text-xs font-semibold text-ink">
                    {headingPath.join(" › ")}
                    {page !== null && page !== undefined && ` · ${t("source.page", { page })}`}
                  </h3>
                )}
                <div dir="auto" className="text-sm leading-relaxed wrap-anywhere whitespace-pre-wrap">
                  {id === source.chunkId ? <QuotedPassage text={text} quote={source.quote} mark={mark} /> : text}
                </div>
              </li>
            ))}
          </ol>
        )}
        {passage.isError && (
          <div className="mt-3">
            <ErrorNotice error={passage.error} onRetry={() => void passage.refetch()} />
          </div>
        )}
        {isThere && found === null && <p className="mt-3 text-xs text-muted">{t("source.gone")}</p>}
        {source.url !== undefined && (
          <p className="mt-4 flex items-center gap-1.5 text-sm text-accent">
            <ExternalLink aria-hidden className="size-4" />
            <OutLink href={source.url}>{t("source.open")}</OutLink>
          </p>
        )}
      </div>
    </Dialog>
  );
}
