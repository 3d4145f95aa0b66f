import { useQuery } from "@tanstack/react-query";
import { useMemo, useRef, useState } from "react";
import type { RefObject } from "react";
import type { Agent, Source, TicketDetail } from "@svc/contracts";
import { agentsQuery } from "../api/administration.ts";
import { isWaiting } from "../api/tickets.ts";
import { useTexts } from "../i18n/texts.ts";
import { isTask } from "../inbox/describe-ticket.ts";
import type { GroupCommand } from "../session/command-registry.ts";
import { useCommands, usePeople, useRights, useServices, useSession } from "../session/services.ts";
import { lazyDialog } from "../ui/lazy-dialog.tsx";
import { Composer } from "./composer.tsx";
import type { ComposeTarget } from "./use-composer.ts";
import { ConversationArea } from "./conversation-area.tsx";
import { DetailsPanel } from "./details-panel.tsx";
import { DraftView } from "./draft-bar.tsx";
import type { ShownDraft } from "./draft-bar.tsx";
import { openOwnDrafts } from "./own-drafts.ts";
import type { ComposeMode } from "./own-drafts.ts";
import { SourceDialog } from "./source-dialog.tsx";
import type { TicketDialog } from "./ticket-dialogs.tsx";
import { TicketHeader } from "./ticket-header.tsx";
import { ToolCalls } from "./tool-calls.tsx";
import { useDecisions, useTicketActions } from "./use-ticket-actions.ts";
import type { Decisions } from "./use-ticket-actions.ts";
import { usePresence } from "./use-presence.ts";
import { TICKET_KEYS } from "./ticket-keys.ts";

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
  const { connection } = useServices();
  const actions = useTicketActions(ticket);
  const decisions = useDecisions(ticket, isNext, actions);
  const { data: agents = [] } = useQuery(agentsQuery(connection, ticket.project));
  const state = stateOf(ticket, agents);
  const composer = useRef<ComposeTarget>(null);
  const view = useRef<HTMLDivElement>(null);
  const [dialog, openDialog] = useState<TicketDialog | null>(null);
  const [hasDetails, setDetails] = useState(false);
  const [resolvesWith, setResolvesWith] = useState(false);
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
    toggleDetails: () => setDetails((shown) => !shown),
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
    setDetails,
    handlers,
  };
}

/**
 * A ticket: its customer, the conversation, the agent's draft, and the field for a reply. `isNext` is true if the ticket
 * was opened by a decision about another one.
 */
// oxlint-disable-next-line max-lines-per-function -- One line for each part of the page and its state.
export function TicketView({ ticket, isNext }: { ticket: TicketDetail; isNext: RefObject<boolean> }) {
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
          onClose={() => page.setDetails(false)}
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
