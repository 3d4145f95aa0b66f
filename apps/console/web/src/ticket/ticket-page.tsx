import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { SearchX } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { ServiceError } from "@svc/client";
import { ticketQuery } from "../api/tickets.ts";
import { useTexts } from "../i18n/texts.ts";
import { useInbox } from "../inbox/use-ticket-list.ts";
import { useServices, useProject, useSession } from "../session/services.ts";
import { TextArea } from "../ui/field.tsx";
import { EmptyState, ErrorNotice, Skeleton } from "../ui/notice.tsx";
import { NO_TEXTS, openOwnDrafts } from "./own-drafts.ts";
import { TicketView } from "./ticket-view.tsx";
import { useAbsence } from "./use-presence.ts";

/** Placeholder of a ticket that is loading, with its subject if the list has it. */
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

/** Message for a ticket that is no longer in this project: the operator's unsent texts, and a link if it was moved. */
function MissingTicket({ ticketId, movedTo }: { ticketId: string; movedTo: string | null }) {
  const { t } = useTexts();
  const { storage } = useServices();
  const { operator } = useSession();
  const { view } = useInbox();
  const [text, setText] = useState("");
  useEffect(() => {
    // In an effect, because the composer stores its text when it is unmounted.
    const texts = Object.values(openOwnDrafts(storage, operator.id).find(ticketId)?.texts ?? NO_TEXTS);
    setText(texts.filter((unsent) => unsent.trim() !== "").join("\n\n"));
  }, [operator.id, storage, ticketId]);
  return (
    <EmptyState icon={SearchX} title={t("ticket.gone")} text={t("ticket.goneText")}>
      {movedTo !== null && (
        <Link
          to="/$project/inbox/$view/$ticketId"
          params={{ project: movedTo, view, ticketId }}
          className="text-sm font-medium text-accent hover:underline"
        >
          {t("ticket.openIn", { project: movedTo })}
        </Link>
      )}
      {text !== "" && (
        <TextArea
          label={t("ticket.goneDraft")}
          value={text}
          readOnly
          rows={6}
          dir="auto"
          className="w-full max-w-lg text-left"
        />
      )}
    </EmptyState>
  );
}

/** Page of one ticket, which the events of the server keep up to date. */
export function TicketPage() {
  const { ticketId } = useParams({ from: "/$project/inbox/$view/$ticketId" });
  const { connection, live } = useServices();
  const queryClient = useQueryClient();
  const project = useProject();
  const { items } = useInbox();
  const query = useQuery(ticketQuery(connection, project, ticketId));
  const [moved, setMoved] = useState<{ ticketId: string; project: string } | null>(null);
  // True if the ticket was opened by a decision about another one.
  const isNext = useRef(false);
  useEffect(() => {
    const refetchTicket = () => void queryClient.invalidateQueries({ queryKey: ["ticket", project, ticketId] });
    const ends = [
      live.on("ticket", (event) => {
        if (event.ticketId !== ticketId) return;
        setMoved(event.project === project ? null : { ticketId, project: event.project });
        refetchTicket();
      }),
      live.on("gone", (event) => {
        if (event.ticketId === ticketId && event.project === project) refetchTicket();
      }),
    ];
    return () => {
      for (const end of ends) end();
    };
  }, [live, project, queryClient, ticketId]);
  // After a 404, the cached data is outdated.
  const isMissing = query.error instanceof ServiceError && query.error.status === 404;
  const isShown = query.data !== undefined && !isMissing;
  useAbsence(query.isError && !isShown);

  if (query.data !== undefined && !isMissing) return <TicketView key={ticketId} ticket={query.data} isNext={isNext} />;
  if (isMissing) {
    const movedTo = moved !== null && moved.ticketId === ticketId && moved.project !== project ? moved.project : null;
    return <MissingTicket key={ticketId} ticketId={ticketId} movedTo={movedTo} />;
  }
  if (query.isError) {
    return (
      <div className="p-5">
        <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />
      </div>
    );
  }
  return <TicketSkeleton subject={items.find(({ id }) => id === ticketId)?.subject} />;
}
