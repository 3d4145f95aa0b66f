import { useQuery } from "@tanstack/react-query";
import { useMemo, useRef, useState } from "react";
import type { RefObject } from "react";
import type { Agent, Source, TicketDetail } from "@svc/contracts";
import { agentsQuery } from "../api/agents.ts";
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
import { useDecisions } from "./use-decisions.ts";
import type { Decisions } from "./use-decisions.ts";
import { usePresence } from "./use-presence.ts";
import { TICKET_KEYS } from "./ticket-keys.ts";
import { useTicketActions } from "./use-ticket-actions.ts";

const TicketDialogs = lazyDialog(async () => (await import("./ticket-dialogs.tsx")).TicketDialogs);

/** A draft with less confidence is weak if the threshold of its agent is unknown. */
const WEAK_BELOW = 0.7;
/** Width of the ticket from which its details are beside the conversation: `@xl` of the panel's styles. */
const DETAILS_BESIDE_PX = 576;

/** Returns the state of a ticket that decides what can be done with it. */
function stateOf(ticket: TicketDetail, agents: readonly Agent[]) {
  // A task has no customer: there is nothing to send, to draft or to dismiss.
  const takesReplies = !isTask(ticket);
  const draft = takesReplies ? ticket.draft : null;
  const hasDraftText = draft !== null && draft.text.trim() !== "";
  const agent = agents.find(({ id }) => id === ticket.agentId);
  const threshold = agent?.autoThreshold ?? WEAK_BELOW;
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

/** What the commands and buttons of a ticket do. */
interface Doing extends Decisions {
  askToApprove: (resolves: boolean) => void;
  /** Approves the draft, unless the composer has something else to send: then its field is focused. */
  approveShown: () => void;
  askToResolve: () => void;
  compose: (mode: ComposeMode) => void;
  openDialog: (dialog: TicketDialog) => void;
  toggleDetails: () => void;
}

/** Offers the commands of a ticket. */
function useTicketCommands({ snooze, stage }: TicketDetail, state: ReturnType<typeof stateOf>, doing: Doing) {
  const { t } = useTexts();
  const { me } = usePeople();
  const mayWrite = useRights()("tickets:write");
  const { canApprove, hasDraftText, isClosed, takesReplies } = state;
  const { assign, compose, openDialog } = doing;
  const isReview = stage === "review" && takesReplies;
  const isSnoozed = snooze !== null;
  const decides = { isDecision: true };
  const { regenerate } = doing;
  const own = (id: keyof typeof TICKET_KEYS) => ({ id, keys: TICKET_KEYS[id].keys, title: t(TICKET_KEYS[id].title) });
  const writing: (GroupCommand | false)[] = [
    canApprove && { ...own("approve"), ...decides, run: doing.approveShown },
    hasDraftText && { ...own("edit"), run: () => compose("edit") },
    takesReplies && { ...own("reply"), run: () => compose("reply") },
    { ...own("note"), run: () => compose("note") },
    isReview && { ...own("regenerate"), ...decides, run: regenerate },
    isReview && { ...own("reject"), run: () => openDialog("reject") },
    { ...own("assign"), run: () => openDialog("assign") },
    { ...own("take"), run: () => assign(me) },
    !isClosed && { ...own("snooze"), run: () => openDialog("snooze") },
    isSnoozed && { ...own("unsnooze"), run: doing.unsnooze },
    { ...own("reroute"), run: () => openDialog("reroute") },
    { ...own("tags"), run: () => openDialog("change") },
    !isClosed && { ...own("resolve"), ...decides, run: doing.askToResolve },
    !isClosed && { ...own("spam"), ...decides, run: () => doing.resolve("spam") },
    isClosed && { ...own("reopen"), run: doing.reopen },
    stage === "failed" && { id: "retry", title: t("action.retry"), run: doing.retry },
  ];
  useCommands("ticket", [
    { ...own("details"), run: doing.toggleDetails },
    takesReplies && { id: "transcript", title: t("action.transcript"), run: doing.saveTranscript },
    { id: "copy-link", title: t("action.copyLink"), run: doing.copyLink },
    ...(mayWrite ? writing : []),
  ]);
}

/** The state of a ticket's page, and what can be done on it. */
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
  const doing: Doing = {
    ...decisions,
    askToApprove,
    approveShown: () => {
      if (composer.current?.focusOther() !== true) askToApprove(false);
    },
    askToResolve: () => (isWaiting(ticket) ? openDialog("resolve") : decisions.resolve("resolved")),
    compose(mode) {
      // Details that cover the whole ticket are closed, so that the field is visible.
      if (view.current !== null && view.current.clientWidth < DETAILS_BESIDE_PX) setDetails(false);
      composer.current?.open(mode);
    },
    openDialog,
    toggleDetails: () => setDetails((shown) => !shown),
  };
  useTicketCommands(ticket, state, doing);
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
    doing,
  };
}

/**
 * A ticket: its customer, the conversation, the agent's draft, and the field for a reply. `isNext` is true if the ticket
 * was opened by a decision about another one.
 */
// oxlint-disable-next-line max-lines-per-function -- one line for each part of the page and its state
export function TicketView({ ticket, isNext }: { ticket: TicketDetail; isNext: RefObject<boolean> }) {
  const { storage } = useServices();
  const { operator } = useSession();
  const mayWrite = useRights()("tickets:write");
  const drafts = useMemo(() => openOwnDrafts(storage, operator.id), [storage, operator.id]);
  const [isTyping, setTyping] = useState(false);
  const [source, setSource] = useState<Source | null>(null);
  const viewers = usePresence(ticket.id, isTyping);
  const page = useTicketView(ticket, isNext);
  const { actions, closeDialog, doing, state } = page;
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
        doing={doing}
        actions={actions}
        busy={actions.busy}
        isBusy={isBusy}
        onApprove={doing.askToApprove}
        onSource={setSource}
        onTyping={setTyping}
        onSent={onSent}
        onNext={doing.openNext}
      />
    ) : (
      draft !== null && <DraftView draft={draft} onSource={setSource} />
    );
  return (
    <div ref={page.view} className="@container flex h-full flex-col">
      <TicketHeader ticket={ticket} viewers={viewers} doing={doing} hasDetails={page.hasDetails} isBusy={isBusy} />
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
          onEdit={mayWrite ? doing.openDialog : null}
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
          decisions={doing}
          actions={actions}
        />
      )}
    </div>
  );
}
