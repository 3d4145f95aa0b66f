import { useQuery } from "@tanstack/react-query";
import { ArrowDown } from "lucide-react";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { RefObject } from "react";
import type { Source, TicketDetail } from "@svc/contracts";
import { agentsQuery } from "../api/agents.ts";
import { isWaiting } from "../api/tickets.ts";
import { useTexts } from "../i18n/texts.ts";
import { isTask } from "../inbox/describe-ticket.ts";
import { useInbox } from "../inbox/use-ticket-list.ts";
import { READ_MS } from "../session/command-registry.ts";
import type { GroupCommand } from "../session/command-registry.ts";
import { useServices, useCommands, usePeople, useRights, useSession } from "../session/services.ts";
import { Button } from "../ui/button.tsx";
import { lazyDialog } from "../ui/lazy-dialog.tsx";
import { Composer } from "./composer.tsx";
import type { ComposeTarget } from "./composer.tsx";
import { Conversation } from "./conversation.tsx";
import { DetailsPanel } from "./details-panel.tsx";
import { DraftCard } from "./draft-card.tsx";
import { useHistory } from "./history.ts";
import { openOwnDrafts } from "./own-drafts.ts";
import type { ComposeMode } from "./own-drafts.ts";
import { SourceDialog } from "./source-dialog.tsx";
import type { TicketDialog } from "./ticket-dialogs.tsx";
import { TicketHeader } from "./ticket-header.tsx";
import { ToolCalls } from "./tool-calls.tsx";
import { useCustomerTyping, usePresence } from "./use-presence.ts";
import { useTicketActions } from "./use-ticket-actions.ts";

const TicketDialogs = lazyDialog(async () => (await import("./ticket-dialogs.tsx")).TicketDialogs);

/** So near to the beginning of what is shown, older ones are fetched. */
const OLDER_WITHIN_PX = 240;
/** Who reads so near to the end is taken along to what is new. */
const END_WITHIN_PX = 80;
/** A draft with less confidence is weak where the threshold of its agent is unknown. */
const WEAK_BELOW = 0.5;
/** Width of the ticket from which its details stand beside the conversation: `@xl` of the panel's styles. */
const DETAILS_BESIDE_PX = 576;

/**
 * A ticket: who, what was said, what the agent would answer, and where to write. `isNext` is true where it has come by
 * itself after another one was decided: it is then to be read for a moment before anything can be decided about it.
 */
export function TicketView({ ticket, isNext }: { ticket: TicketDetail; isNext: RefObject<boolean> }) {
  const { t } = useTexts();
  const { connection, storage, toasts } = useServices();
  const { operator } = useSession();
  const { me } = usePeople();
  const mayWrite = useRights()("tickets:write");
  const { advance } = useInbox();
  const actions = useTicketActions(ticket);
  const { act } = actions;
  const drafts = useMemo(() => openOwnDrafts(storage, operator.id), [storage, operator.id]);
  const composer = useRef<ComposeTarget>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const view = useRef<HTMLDivElement>(null);
  const [mode, setMode] = useState<ComposeMode>(() => drafts.find(ticket.id)?.mode ?? "reply");
  const [isTyping, setTyping] = useState(false);
  const [source, setSource] = useState<Source | null>(null);
  const [dialog, setDialog] = useState<TicketDialog | null>(null);
  const [hasDetails, setDetails] = useState(false);
  const { history, hasMore, isLoading, loadOlder } = useHistory(ticket);
  const viewers = usePresence(ticket.id, isTyping);
  const isCustomerTyping = useCustomerTyping(ticket.id, ticket.messages.at(-1)?.id);
  const { id, stage, status } = ticket;
  // A task has no customer: there is nothing to send, to draft or to dismiss.
  const takesReplies = !isTask(ticket);
  const draft = takesReplies ? ticket.draft : null;
  const isClosed = status === "resolved" || status === "spam";
  const hasDraftText = draft !== null && draft.text.trim() !== "";
  const canApprove = hasDraftText && !draft.isStale;
  const { data: agents = [] } = useQuery(agentsQuery(connection, ticket.project));
  const agent = agents.find(({ id: known }) => known === ticket.agentId);
  const threshold = agent?.autoThreshold ?? WEAK_BELOW;
  const isWeak = hasDraftText && draft.confidence !== null && draft.confidence < threshold;

  const compose = (next: ComposeMode) => {
    // Where the details cover the whole ticket, they make room for the field.
    if (view.current !== null && view.current.clientWidth < DETAILS_BESIDE_PX) setDetails(false);
    composer.current?.open(next);
  };
  // A key that is pressed twice, or a double click, must not decide about the next ticket, which nobody has read.
  const readFrom = useRef(0);
  const isShown = useRef(false);
  useEffect(() => {
    if (isNext.current) readFrom.current = performance.now() + READ_MS;
    isNext.current = false;
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, [isNext]);
  const decide = (work: () => void) => {
    if (actions.busy === null && performance.now() >= readFrom.current) work();
  };
  const go = async (isDone: Promise<boolean>) => {
    // Who has gone elsewhere meanwhile stays there.
    if (!(await isDone) || !isShown.current) return;
    isNext.current = true;
    advance(id);
  };
  const approve = () => decide(() => void go(act("approve", {}, { done: t("done.approve") })));
  const askToApprove = () => (isWeak ? setDialog("approve") : approve());
  const reject = (reason?: string) =>
    decide(() => void go(act("reject", reason === undefined ? {} : { reason }, { done: t("done.reject") })));
  const regenerate = () => decide(() => void act("regenerate", {}, { done: t("done.regenerate") }));
  const reopen = () => decide(() => void act("reopen", {}, { version: null, done: t("done.reopen") }));
  const retry = () => decide(() => void act("retry", {}, { done: t("done.retry") }));
  const resolve = (as: "resolved" | "spam") =>
    decide(
      () =>
        void go(
          act(
            "resolve",
            { status: as },
            {
              done: t(as === "spam" ? "done.spam" : "done.resolve"),
              undo: (after) => void actions.undoClose(after),
            },
          ),
        ),
    );
  const askToResolve = () => (isWaiting(ticket) ? setDialog("resolve") : resolve("resolved"));
  const assign = (assignee: string | null) =>
    decide(() => {
      const before = ticket.assignee;
      void actions.assign(assignee, {
        done: t(assignee === null ? "done.unassign" : "done.assign"),
        undo: ({ version }) => void actions.assign(before, { version, keepsDraft: true }),
      });
    });
  const copyLink = () =>
    void navigator.clipboard.writeText(location.href).then(
      () => toasts.show({ kind: "done", text: t("done.copied") }),
      () => toasts.show({ kind: "error", text: t("error.clipboard") }),
    );

  // A ticket opens at its newest end. Who reads further up stays there, and is told what has come.
  const isAtEnd = useRef(true);
  const [hasNewMessages, setNewMessages] = useState(false);
  const showEnd = () => scroller.current?.scrollTo({ top: scroller.current.scrollHeight });
  const newest = `${ticket.messages.at(-1)?.id ?? ""} ${ticket.replies.at(-1)?.id ?? ""}`;
  useEffect(() => {
    if (isAtEnd.current) showEnd();
    else setNewMessages(true);
  }, [newest]);

  // What is older comes in above what is read, which stays where it is.
  const heightBefore = useRef<number | null>(null);
  const showOlder = () => {
    heightBefore.current = scroller.current?.scrollHeight ?? null;
    void loadOlder();
  };
  useLayoutEffect(() => {
    if (isLoading || heightBefore.current === null || scroller.current === null) return;
    scroller.current.scrollTop += scroller.current.scrollHeight - heightBefore.current;
    heightBefore.current = null;
  }, [history, isLoading]);

  const isReview = stage === "review" && takesReplies;
  const decides = { isDecision: true };
  const writing: (GroupCommand | false)[] = [
    canApprove && { id: "approve", title: t("action.approve"), keys: "a", ...decides, run: askToApprove },
    hasDraftText && { id: "edit", title: t("action.edit"), keys: "e", run: () => compose("edit") },
    takesReplies && { id: "reply", title: t("action.reply"), keys: "r", run: () => compose("reply") },
    { id: "note", title: t("action.note"), keys: "n", run: () => compose("note") },
    isReview && { id: "regenerate", title: t("action.regenerate"), keys: "shift+g", ...decides, run: regenerate },
    isReview && { id: "reject", title: t("action.reject"), keys: "shift+x", run: () => setDialog("reject") },
    { id: "assign", title: t("action.assign"), keys: "#", run: () => setDialog("assign") },
    { id: "take", title: t("action.take"), keys: "i", run: () => assign(me) },
    { id: "reroute", title: t("action.reroute"), keys: "m", run: () => setDialog("reroute") },
    { id: "tags", title: t("action.change"), keys: "t", run: () => setDialog("change") },
    !isClosed && { id: "resolve", title: t("action.resolve"), keys: "shift+e", ...decides, run: askToResolve },
    !isClosed && { id: "spam", title: t("action.spam"), keys: "!", ...decides, run: () => resolve("spam") },
    isClosed && { id: "reopen", title: t("action.reopen"), keys: "shift+o", run: reopen },
    stage === "failed" && { id: "retry", title: t("action.retry"), run: retry },
  ];
  useCommands("ticket", [
    { id: "details", title: t("action.details"), keys: "d", run: () => setDetails((shown) => !shown) },
    { id: "copy-link", title: t("action.copyLink"), run: copyLink },
    ...(mayWrite ? writing : []),
  ]);

  return (
    <div ref={view} className="@container flex h-full flex-col">
      <TicketHeader
        ticket={ticket}
        viewers={viewers}
        actions={{
          resolve: (as) => (as === "spam" ? resolve(as) : askToResolve()),
          reopen,
          openDialog: setDialog,
          copyLink,
          toggleDetails: () => setDetails((shown) => !shown),
        }}
        hasDetails={hasDetails}
        isBusy={actions.busy !== null}
      />
      <div className="relative flex min-h-0 flex-1">
        <div className="flex min-w-0 flex-1 flex-col">
          <div
            ref={scroller}
            tabIndex={0}
            role="region"
            aria-label={t("ticket.conversation")}
            onScroll={({ currentTarget }) => {
              const { clientHeight, scrollHeight, scrollTop } = currentTarget;
              isAtEnd.current = scrollHeight - scrollTop - clientHeight < END_WITHIN_PX;
              if (isAtEnd.current) setNewMessages(false);
              if (scrollTop < OLDER_WITHIN_PX && hasMore && !isLoading) showOlder();
            }}
            className="min-h-0 flex-1 overflow-y-auto [overflow-anchor:none] focus-visible:-outline-offset-2"
          >
            <div className="@container mx-auto flex min-h-full max-w-3xl flex-col px-5 pt-5 pb-4 max-sm:px-3">
              {hasMore && (
                <Button look="quiet" size="small" isBusy={isLoading} onClick={showOlder} className="mb-3 self-center">
                  {t("ticket.older")}
                </Button>
              )}
              <Conversation ticket={ticket} history={history} onSource={setSource} />
              <ToolCalls ticket={ticket} actions={actions} mayWrite={mayWrite} />
              {draft !== null && (
                <DraftCard
                  key={draft.createdAt}
                  agent={agent?.name}
                  threshold={isWeak ? threshold : null}
                  draft={draft}
                  mayWrite={mayWrite}
                  busy={actions.busy}
                  canApprove={canApprove}
                  onApprove={askToApprove}
                  onEdit={() => compose("edit")}
                  onWrite={() => compose("reply")}
                  onRegenerate={regenerate}
                  onReject={() => setDialog("reject")}
                  onSource={setSource}
                />
              )}
            </div>
          </div>
          <div role="status" className="relative">
            {isCustomerTyping && (
              <p className="mx-auto max-w-3xl px-5 py-1 text-xs text-muted max-sm:px-3">
                {t("presence.customerTyping")}
              </p>
            )}
            {hasNewMessages && (
              <Button
                icon={ArrowDown}
                size="small"
                onClick={showEnd}
                className="absolute bottom-2 left-1/2 -translate-x-1/2 shadow-pop"
              >
                {t("ticket.newMessage")}
              </Button>
            )}
          </div>
          {mayWrite && (
            <Composer
              ref={composer}
              ticket={ticket}
              drafts={drafts}
              mode={mode}
              onMode={setMode}
              act={act}
              isBusy={actions.busy !== null}
              onTyping={setTyping}
              onSent={() => {
                isAtEnd.current = true;
              }}
            />
          )}
        </div>
        <DetailsPanel
          ticket={ticket}
          onSource={setSource}
          isOpen={hasDetails}
          mayWrite={mayWrite}
          onChange={() => setDialog("change")}
          onAssign={() => setDialog("assign")}
          onReroute={() => setDialog("reroute")}
          onClose={() => setDetails(false)}
        />
      </div>
      {source !== null && <SourceDialog source={source} ticket={ticket} onClose={() => setSource(null)} />}
      {dialog !== null && (
        <TicketDialogs
          dialog={dialog}
          ticket={ticket}
          threshold={threshold}
          onClose={() => setDialog(null)}
          onAssign={assign}
          onReject={reject}
          onResolve={() => resolve("resolved")}
          onApprove={approve}
          actions={actions}
        />
      )}
    </div>
  );
}
