import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { SearchX } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import type { RefObject } from "react";
import { ServiceError } from "@svc/client";
import type { Agent, Source, TicketDetail } from "@svc/contracts";
import { agentsQuery } from "../api/administration.ts";
import { isWaiting, ticketQuery } from "../api/tickets.ts";
import { useTexts } from "../i18n/texts.ts";
import { isTask } from "../inbox/describe-ticket.ts";
import { useInbox } from "../inbox/use-ticket-list.ts";
import type { GroupCommand } from "../session/command-registry.ts";
import { useCommands, usePeople, useProject, useRights, useServices, useSession } from "../session/services.ts";
import { TextArea } from "../ui/field.tsx";
import { lazyDialog } from "../ui/dialog.tsx";
import { EmptyState, ErrorNotice, Skeleton } from "../ui/notice.tsx";
import { Composer } from "./composer.tsx";
import { ConversationArea } from "./conversation-area.tsx";
import { DetailsPanel } from "./details-panel.tsx";
import { DraftView, SourceDialog } from "./draft-bar.tsx";
import type { ShownDraft } from "./draft-bar.tsx";
import { NO_TEXTS, openOwnDrafts } from "./own-drafts.ts";
import type { ComposeMode } from "./own-drafts.ts";
import type { TicketDialog } from "./ticket-dialogs.tsx";
import { TicketHeader } from "./ticket-header.tsx";
import { ToolCalls } from "./trace.tsx";
import type { ComposeTarget } from "./use-composer.ts";
import { useAbsence, usePresence } from "./use-presence.ts";
import { TICKET_KEYS, useDecisions, useTicketActions } from "./use-ticket-actions.ts";
import type { Decisions } from "./use-ticket-actions.ts";

const TicketDialogs = lazyDialog(async () => (await import("./ticket-dialogs.tsx")).TicketDialogs);

/** Default threshold, if the threshold of the draft's agent is unknown. */
const DEFAULT_THRESHOLD = 0.7;
/** Minimum width of the page at which the details are next to the conversation: `@xl` in the styles of the panel. */
const SIDE_BY_SIDE_PX = 576;

/** Returns the facts of a ticket that determine which actions are available. */
function stateOf(ticket: TicketDetail, agents: readonly Agent[]) {
  // A task has no customer who could receive a reply.
  const takesReplies = !isTask(ticket);
  const draft = takesReplies ? ticket.draft : null;
  const hasDraftText = draft !== null && draft.text.trim() !== "";
  const agent = agents.find(({ id }) => id === ticket.agentId);
  const threshold = agent?.autoThreshold ?? DEFAULT_THRESHOLD;
  return {
    takesReplies,
    draft,
    hasDraftText,
    canApprove: hasDraftText && !draft.isStale,
    isClosed: ticket.status === "resolved" || ticket.status === "spam",
    agent,
    threshold,
    isWeak: hasDraftText && draft.confidence !== null && draft.confidence < threshold,
  };
}

/** Handlers of the commands and buttons of a ticket. */
interface TicketHandlers extends Decisions {
  askToApprove: (resolves: boolean) => void;
  /** Approves the draft, unless the composer has another unsent text: then focuses its field. */
  approveUnedited: () => void;
  askToResolve: () => void;
  compose: (mode: ComposeMode) => void;
  openDialog: (dialog: TicketDialog) => void;
  toggleDetails: () => void;
}

/** Registers the commands of a ticket. */
function useTicketCommands(
  { snooze, stage }: TicketDetail,
  state: ReturnType<typeof stateOf>,
  handlers: TicketHandlers,
) {
  const { t } = useTexts();
  const { me } = usePeople();
  const mayWrite = useRights()("tickets:write");
  const { canApprove, hasDraftText, isClosed, takesReplies } = state;
  const { assign, compose, openDialog } = handlers;
  const isReview = stage === "review" && takesReplies;
  const isSnoozed = snooze !== null;
  const decision = { isDecision: true };
  const { regenerate } = handlers;
  const commandOf = (id: keyof typeof TICKET_KEYS) => ({
    id,
    keys: TICKET_KEYS[id].keys,
    title: t(TICKET_KEYS[id].title),
  });
  const writeCommands: (GroupCommand | false)[] = [
    canApprove && { ...commandOf("approve"), ...decision, run: handlers.approveUnedited },
    hasDraftText && { ...commandOf("edit"), run: () => compose("edit") },
    takesReplies && { ...commandOf("reply"), run: () => compose("reply") },
    { ...commandOf("note"), run: () => compose("note") },
    isReview && { ...commandOf("regenerate"), ...decision, run: regenerate },
    isReview && { ...commandOf("reject"), run: () => openDialog("reject") },
    { ...commandOf("assign"), run: () => openDialog("assign") },
    { ...commandOf("take"), run: () => assign(me) },
    !isClosed && { ...commandOf("snooze"), run: () => openDialog("snooze") },
    isSnoozed && { ...commandOf("unsnooze"), run: handlers.unsnooze },
    { ...commandOf("reroute"), run: () => openDialog("reroute") },
    { ...commandOf("tags"), run: () => openDialog("change") },
    !isClosed && { ...commandOf("resolve"), ...decision, run: handlers.askToResolve },
    !isClosed && { ...commandOf("spam"), ...decision, run: () => handlers.resolve("spam") },
    isClosed && { ...commandOf("reopen"), run: handlers.reopen },
    stage === "failed" && { id: "retry", title: t("action.retry"), run: handlers.retry },
  ];
  useCommands("ticket", [
    { ...commandOf("details"), run: handlers.toggleDetails },
    takesReplies && { id: "transcript", title: t("action.transcript"), run: handlers.saveTranscript },
    { id: "copy-link", title: t("action.copyLink"), run: handlers.copyLink },
    ...(mayWrite ? writeCommands : []),
  ]);
}

/** Returns the state and the handlers of the page of a ticket. */
function useTicketView(ticket: TicketDetail, isNext: RefObject<boolean>) {
  const { connection, preferences } = useServices();
  const actions = useTicketActions(ticket);
  const decisions = useDecisions(ticket, isNext, actions);
  const { data: agents = [] } = useQuery(agentsQuery(connection, ticket.project));
  const state = stateOf(ticket, agents);
  const composer = useRef<ComposeTarget>(null);
  const view = useRef<HTMLDivElement>(null);
  const [dialog, openDialog] = useState<TicketDialog | null>(null);
  // Kept for the next ticket, but a small window shows its conversation first.
  const isWide = useRef(matchMedia("(min-width: 80rem)").matches);
  const [hasDetails, setDetails] = useState(isWide.current && preferences.get().hasDetails);
  const [resolvesWith, setResolvesWith] = useState(false);
  function showDetails(isShown: boolean) {
    setDetails(isShown);
    if (isWide.current) preferences.set((known) => ({ ...known, hasDetails: isShown }));
  }
  function askToApprove(resolves: boolean) {
    if (!state.isWeak) return decisions.approve(resolves);
    setResolvesWith(resolves);
    openDialog("approve");
  }
  const handlers: TicketHandlers = {
    ...decisions,
    askToApprove,
    approveUnedited: () => {
      if (composer.current?.focusUnsent() !== true) askToApprove(false);
    },
    askToResolve: () => (isWaiting(ticket) ? openDialog("resolve") : decisions.resolve("resolved")),
    compose(mode) {
      // Closes details that cover the whole ticket, so that the field is visible.
      if (view.current !== null && view.current.clientWidth < SIDE_BY_SIDE_PX) setDetails(false);
      composer.current?.open(mode);
    },
    openDialog,
    toggleDetails: () => showDetails(!hasDetails),
  };
  useTicketCommands(ticket, state, handlers);
  return {
    actions,
    state,
    composer,
    view,
    dialog,
    closeDialog: () => openDialog(null),
    approve: () => decisions.approve(resolvesWith),
    hasDetails,
    closeDetails: () => showDetails(false),
    handlers,
  };
}

/**
 * A ticket: its customer, the conversation, the agent's draft, and the field for a reply. `isNext` is true if the ticket
 * was opened by a decision about another one.
 */
// oxlint-disable-next-line max-lines-per-function -- One line for each part of the page and its state.
function TicketView({ ticket, isNext }: { ticket: TicketDetail; isNext: RefObject<boolean> }) {
  const { storage } = useServices();
  const { operator } = useSession();
  const mayWrite = useRights()("tickets:write");
  const drafts = useMemo(() => openOwnDrafts(storage, operator.id), [storage, operator.id]);
  const [isTyping, setTyping] = useState(false);
  const [source, setSource] = useState<Source | null>(null);
  const viewers = usePresence(ticket.id, isTyping);
  const page = useTicketView(ticket, isNext);
  const { actions, closeDialog, handlers, state } = page;
  const isBusy = actions.busy !== null;
  const draft: ShownDraft | null =
    state.draft === null
      ? null
      : { item: state.draft, agent: state.agent?.name, threshold: state.isWeak ? state.threshold : null };
  const composerOf = (onSent: () => void) =>
    mayWrite ? (
      <Composer
        ref={page.composer}
        ticket={ticket}
        draft={draft}
        drafts={drafts}
        handlers={handlers}
        actions={actions}
        busy={actions.busy}
        isBusy={isBusy}
        onApprove={handlers.askToApprove}
        onSource={setSource}
        onTyping={setTyping}
        onSent={onSent}
        onNext={handlers.openNext}
      />
    ) : (
      draft !== null && <DraftView draft={draft} onSource={setSource} />
    );
  return (
    <div ref={page.view} className="@container flex h-full flex-col">
      <TicketHeader
        ticket={ticket}
        viewers={viewers}
        handlers={handlers}
        hasDetails={page.hasDetails}
        isBusy={isBusy}
      />
      <div className="relative flex min-h-0 flex-1">
        <ConversationArea
          ticket={ticket}
          onSource={setSource}
          below={<ToolCalls ticket={ticket} actions={actions} mayWrite={mayWrite} />}
          composer={composerOf}
        />
        <DetailsPanel
          ticket={ticket}
          onSource={setSource}
          isOpen={page.hasDetails}
          onEdit={mayWrite ? handlers.openDialog : null}
          onClose={page.closeDetails}
        />
      </div>
      {source !== null && <SourceDialog source={source} ticket={ticket} onClose={() => setSource(null)} />}
      {page.dialog !== null && (
        <TicketDialogs
          dialog={page.dialog}
          ticket={ticket}
          threshold={state.threshold}
          onClose={closeDialog}
          onApprove={page.approve}
          decisions={handlers}
          actions={actions}
        />
      )}
    </div>
  );
}

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
