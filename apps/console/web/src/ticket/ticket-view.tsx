import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { Source, TicketDetail } from "@svc/contracts";
import { useCommands } from "../app/command-registry.ts";
import type { Command } from "../app/command-registry.ts";
import { useServices } from "../app/services.ts";
import { usePeople } from "../app/use-names.ts";
import { useRights, useSession } from "../app/use-session.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { useInbox } from "../inbox/inbox-context.ts";
import { Button } from "../ui/button.tsx";
import { Composer } from "./composer.tsx";
import type { ComposeTarget } from "./composer.tsx";
import { Conversation } from "./conversation.tsx";
import { DetailsPanel } from "./details-panel.tsx";
import { DraftCard } from "./draft-card.tsx";
import { openOwnDrafts } from "./own-drafts.ts";
import type { ComposeMode } from "./own-drafts.ts";
import { SourceDialog } from "./source-dialog.tsx";
import { TicketDialogs } from "./ticket-dialogs.tsx";
import type { TicketDialog } from "./ticket-dialogs.tsx";
import { TicketHeader } from "./ticket-header.tsx";
import { ToolCalls } from "./tool-calls.tsx";
import { useHistory } from "./use-history.ts";
import { usePresence } from "./use-presence.ts";
import { useTicketActions } from "./use-ticket-actions.ts";

/** So near to the beginning of what is shown, older ones are fetched. */
const OLDER_WITHIN_PX = 240;

/** A ticket: who, what was said, what the agent would answer, and where to write. */
export function TicketView({ ticket }: { ticket: TicketDetail }) {
  const { t } = useTexts();
  const { storage, toasts } = useServices();
  const { operator } = useSession();
  const { me } = usePeople();
  const mayWrite = useRights()("tickets:write");
  const { advance } = useInbox();
  const actions = useTicketActions(ticket);
  const { act } = actions;
  const drafts = useMemo(() => openOwnDrafts(storage, operator.id), [storage, operator.id]);
  const composer = useRef<ComposeTarget>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const [mode, setMode] = useState<ComposeMode>(() => drafts.find(ticket.id)?.mode ?? "reply");
  const [isTyping, setTyping] = useState(false);
  const [source, setSource] = useState<Source | null>(null);
  const [dialog, setDialog] = useState<TicketDialog | null>(null);
  const [hasDetails, setDetails] = useState(false);
  const { history, hasMore, isLoading, loadOlder } = useHistory(ticket);
  const viewers = usePresence(ticket.id, isTyping);
  const { draft, id, stage, status } = ticket;
  const isClosed = status === "resolved" || status === "spam";
  const canApprove = draft !== null && draft.text.trim() !== "" && !draft.isStale;

  const compose = (next: ComposeMode) => {
    setMode(next);
    composer.current?.open(next);
  };
  const go = async (isDone: Promise<boolean>) => {
    if (await isDone) advance(id);
  };
  const approve = () => void go(act("approve", {}, { done: t("done.approve") }));
  const reject = (reason?: string) =>
    void go(act("reject", reason === undefined ? {} : { reason }, { done: t("done.reject") }));
  const regenerate = () => void act("regenerate", {}, { done: t("done.regenerate") });
  const reopen = () => void act("reopen", {}, { version: null, done: t("done.reopen") });
  const resolve = (as: "resolved" | "spam") =>
    void go(
      act(
        "resolve",
        { status: as },
        {
          done: t(as === "spam" ? "done.spam" : "done.resolve"),
          // Messages that waited have ended: opening the ticket again does not bring back their draft.
          undoLabel: t(stage === "review" ? "action.reopen" : "ui.undo"),
          undo: () => void actions.undoClose(),
        },
      ),
    );
  const assign = (assignee: string | null) => {
    const before = ticket.assignee;
    const put = (who: string | null, telling: Parameters<typeof act>[2]) =>
      who === null
        ? act("unassign", {}, telling)
        : who === me
          ? act("takeover", {}, telling)
          : act("assign", { assignee: who }, telling);
    void put(assignee, {
      version: null,
      done: t(assignee === null ? "done.unassign" : "done.assign"),
      undo: () => void put(before, { version: null }),
    });
  };
  const copyLink = () =>
    void navigator.clipboard.writeText(location.href).then(
      () => toasts.show({ kind: "done", text: t("done.copied") }),
      () => toasts.show({ kind: "fault", text: t("fault.clipboard") }),
    );

  useEffect(() => {
    // A ticket opens at its newest end.
    scroller.current?.scrollTo({ top: scroller.current.scrollHeight });
  }, [ticket.messages.length, ticket.replies.length]);

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

  const writing: (Command | false)[] = [
    canApprove && { id: "approve", title: t("action.approve"), group: "ticket", keys: "a", run: approve },
    draft !== null && { id: "edit", title: t("action.edit"), group: "ticket", keys: "e", run: () => compose("edit") },
    { id: "reply", title: t("action.reply"), group: "ticket", keys: "r", run: () => compose("reply") },
    { id: "note", title: t("action.note"), group: "ticket", keys: "n", run: () => compose("note") },
    stage === "review" && {
      id: "regenerate",
      title: t("action.regenerate"),
      group: "ticket",
      keys: "shift+g",
      run: regenerate,
    },
    stage === "review" && {
      id: "reject",
      title: t("action.reject"),
      group: "ticket",
      keys: "shift+x",
      run: () => setDialog("reject"),
    },
    { id: "assign", title: t("action.assign"), group: "ticket", keys: "#", run: () => setDialog("assign") },
    { id: "take", title: t("action.take"), group: "ticket", keys: "i", run: () => assign(me) },
    { id: "reroute", title: t("action.reroute"), group: "ticket", keys: "m", run: () => setDialog("reroute") },
    { id: "tags", title: t("action.change"), group: "ticket", keys: "t", run: () => setDialog("change") },
    !isClosed && {
      id: "resolve",
      title: t("action.resolve"),
      group: "ticket",
      keys: "shift+e",
      run: () => resolve("resolved"),
    },
    !isClosed && { id: "spam", title: t("action.spam"), group: "ticket", keys: "!", run: () => resolve("spam") },
    isClosed && { id: "reopen", title: t("action.reopen"), group: "ticket", keys: "shift+o", run: reopen },
    stage === "failed" && {
      id: "retry",
      title: t("action.retry"),
      group: "ticket",
      run: () => void act("retry", {}, { done: t("done.retry") }),
    },
  ];
  useCommands([
    { id: "details", title: t("action.details"), group: "ticket", keys: "d", run: () => setDetails((shown) => !shown) },
    { id: "copy-link", title: t("action.copyLink"), group: "ticket", run: copyLink },
    ...(mayWrite ? writing.filter((command) => command !== false) : []),
  ]);

  return (
    <div className="@container flex h-full flex-col">
      <TicketHeader
        ticket={ticket}
        viewers={viewers}
        actions={{
          resolve,
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
              if (currentTarget.scrollTop < OLDER_WITHIN_PX && hasMore && !isLoading) showOlder();
            }}
            className="min-h-0 flex-1 overflow-y-auto [overflow-anchor:none] focus-visible:-outline-offset-2"
          >
            <div className="@container mx-auto flex min-h-full max-w-3xl flex-col px-5 pt-5 pb-4 max-sm:px-3">
              <div className="flex-1" />
              {hasMore && (
                <Button look="quiet" size="small" isBusy={isLoading} onClick={showOlder} className="mb-3 self-center">
                  {t("ticket.older")}
                </Button>
              )}
              <Conversation ticket={ticket} history={history} onSource={setSource} />
              <ToolCalls ticket={ticket} actions={actions} mayWrite={mayWrite} />
              {draft !== null && (
                <DraftCard
                  ticket={ticket}
                  draft={draft}
                  mayWrite={mayWrite}
                  busy={actions.busy}
                  canApprove={canApprove}
                  onApprove={approve}
                  onEdit={() => compose("edit")}
                  onRegenerate={regenerate}
                  onReject={() => setDialog("reject")}
                  onSource={setSource}
                />
              )}
            </div>
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
              onSent={() => undefined}
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
      <TicketDialogs
        dialog={dialog}
        ticket={ticket}
        onClose={() => setDialog(null)}
        onAssign={assign}
        onReject={reject}
        actions={actions}
      />
    </div>
  );
}
