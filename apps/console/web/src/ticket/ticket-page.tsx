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

/** What is said of a ticket that is not here any more, with what was begun to be written for it, and where it is now. */
function GoneTicket({ ticketId, movedTo }: { ticketId: string; movedTo: string | null }) {
  const { t } = useTexts();
  const { storage } = useServices();
  const { operator } = useSession();
  const { view } = useInbox();
  const [text, setText] = useState("");
  useEffect(() => {
    // By now the field has kept what was in it.
    const texts = Object.values(openOwnDrafts(storage, operator.id).find(ticketId)?.texts ?? NO_TEXTS);
    setText(texts.filter((one) => one.trim() !== "").join("\n\n"));
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

/** One ticket, kept as it is on the server. */
export function TicketPage() {
  const { ticketId } = useParams({ from: "/$project/inbox/$view/$ticketId" });
  const { connection, live } = useServices();
  const queryClient = useQueryClient();
  const project = useProject();
  const { items } = useInbox();
  const query = useQuery(ticketQuery(connection, project, ticketId));
  const [moved, setMoved] = useState<{ ticketId: string; project: string } | null>(null);
  // Whether the ticket has come to be shown by itself, after another one was decided.
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
  // What was read of a ticket before it was gone is not what it is.
  const isGone = query.error instanceof ServiceError && query.error.status === 404;
  const isShown = query.data !== undefined && !isGone;
  useAbsence(query.isError && !isShown);

  if (query.data !== undefined && !isGone) return <TicketView key={ticketId} ticket={query.data} isNext={isNext} />;
  if (isGone) {
    const movedTo = moved !== null && moved.ticketId === ticketId && moved.project !== project ? moved.project : null;
    return <GoneTicket key={ticketId} ticketId={ticketId} movedTo={movedTo} />;
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
