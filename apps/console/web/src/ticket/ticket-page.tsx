import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { SearchX } from "lucide-react";
import { useEffect } from "react";
import { ServiceFault } from "@svc/client";
import { ticketQuery } from "../api/tickets.ts";
import { useServices } from "../app/services.ts";
import { useProject } from "../app/use-session.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { useInbox } from "../inbox/inbox-context.ts";
import { EmptyState } from "../ui/empty-state.tsx";
import { FaultNotice } from "../ui/fault-notice.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { TicketView } from "./ticket-view.tsx";

/** The outline of a ticket that is on its way; what the list knows of it is there already. */
function TicketSkeleton({ subject }: { subject: string | undefined }) {
  return (
    <div aria-busy className="flex h-full flex-col">
      <div className="flex h-14 items-center border-b border-line px-5">
        {subject === undefined ? (
          <Skeleton className="h-5 w-72" />
        ) : (
          <h2 dir="auto" className="truncate text-base font-semibold">
            {subject}
          </h2>
        )}
      </div>
      <div className="flex flex-col gap-4 p-5">
        <Skeleton className="h-20 w-2/3 rounded-xl" />
        <Skeleton className="h-28 w-2/3 self-end rounded-xl" />
        <Skeleton className="h-16 w-1/2 rounded-xl" />
      </div>
    </div>
  );
}

/** One ticket, kept as it is on the server. */
export function TicketPage() {
  const { t } = useTexts();
  const { ticketId } = useParams({ from: "/$project/inbox/$view/$ticketId" });
  const { connection, live } = useServices();
  const queryClient = useQueryClient();
  const project = useProject();
  const { items } = useInbox();
  const query = useQuery(ticketQuery(connection, project, ticketId));
  useEffect(
    () =>
      live.on("ticket", (news) => {
        if (news.ticketId === ticketId) void queryClient.invalidateQueries({ queryKey: ["ticket", project, ticketId] });
      }),
    [live, project, queryClient, ticketId],
  );

  if (query.data !== undefined) return <TicketView key={ticketId} ticket={query.data} />;
  if (query.isError) {
    const isGone = query.error instanceof ServiceFault && query.error.status === 404;
    return isGone ? (
      <EmptyState icon={SearchX} title={t("ticket.gone")} text={t("ticket.goneText")} />
    ) : (
      <div className="p-5">
        <FaultNotice fault={query.error} onRetry={() => void query.refetch()} />
      </div>
    );
  }
  return <TicketSkeleton subject={items.find(({ id }) => id === ticketId)?.subject} />;
}
