import { useQuery } from "@tanstack/react-query";
import { ExternalLink } from "lucide-react";
import { useEffect, useRef } from "react";
import type { KbHit, Source, TicketDetail } from "@svc/contracts";
import { agentsQuery } from "../api/agents.ts";
import { useServices } from "../app/services.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { Dialog } from "../ui/dialog.tsx";
import { FaultNotice } from "../ui/fault-notice.tsx";
import { OutLink } from "../ui/markdown.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { splitQuote } from "./split-quote.ts";

/** A quote is looked up by its beginning. */
const QUERY_MAX_CHARS = 400;
const HITS = 10;

/** The passage that a quote stands in, highlighted. */
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
  const { connection, queryClient } = useServices();
  const mark = useRef<HTMLElement>(null);
  const passage = useQuery({
    queryKey: ["passage", ticket.project, source.chunkId],
    queryFn: async ({ signal }): Promise<KbHit | null> => {
      const agents = await queryClient.ensureQueryData(agentsQuery(connection, ticket.project));
      const own = agents.find(({ id }) => id === ticket.agentId)?.kbIds ?? [];
      // An agent's bases may have been changed since: the passage is looked for in all others then.
      const kbIds = [...new Set([...own, ...agents.flatMap((agent) => agent.kbIds)])];
      for (const id of kbIds) {
        const query = { q: source.quote.slice(0, QUERY_MAX_CHARS), limit: HITS };
        const { items } = await connection.call("searchKb", ticket.project, { params: { id }, query, signal });
        const hit = items.find(({ chunkId }) => chunkId === source.chunkId);
        if (hit !== undefined) return hit;
      }
      return null;
    },
  });
  const isThere = passage.isSuccess;
  useEffect(() => mark.current?.scrollIntoView({ block: "center" }), [isThere]);
  const hit = passage.data ?? null;
  const { after, before, quote } = splitQuote(hit?.text ?? source.quote, source.quote);
  return (
    <Dialog title={source.title} onClose={onClose}>
      <div className="px-5 py-4">
        {hit !== null && hit.headingPath.length > 0 && (
          <p className="mb-3 text-xs text-muted">
            {hit.headingPath.join(" › ")}
            {hit.page !== undefined && ` · ${t("source.page", { page: hit.page })}`}
          </p>
        )}
        {passage.isPending ? (
          <Skeleton className="h-40 w-full" />
        ) : (
          <div dir="auto" className="text-base leading-relaxed wrap-anywhere whitespace-pre-wrap">
            {before}
            <mark ref={mark}>{quote}</mark>
            {after}
          </div>
        )}
        {passage.isError && (
          <div className="mt-3">
            <FaultNotice fault={passage.error} onRetry={() => void passage.refetch()} />
          </div>
        )}
        {isThere && hit === null && <p className="mt-3 text-xs text-muted">{t("source.gone")}</p>}
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
