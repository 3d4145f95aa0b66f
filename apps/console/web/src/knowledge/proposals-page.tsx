import { useMemo, useState } from "react";
import { Link } from "@tanstack/react-router";
import { Check, FilePen, FilePlus2, X, GitPullRequestArrow } from "lucide-react";
import type { Proposal, ProposalStatus } from "@svc/contracts";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { decideProposal, proposalsQuery } from "../api/gaps.ts";
import { kbsQuery } from "../api/knowledge.ts";
import { FormDialog } from "../forms/form-dialog.tsx";
import { useTexts } from "../i18n/texts.ts";
import { useRowKeys } from "../lists/use-row-keys.ts";
import { useServices, usePeople, useProject, useRights } from "../session/services.ts";
import { Ago } from "../ui/ago.tsx";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { ChoiceGroup } from "../ui/choice-fields.tsx";
import { describeError } from "../ui/describe-error.ts";
import { TextArea } from "../ui/field.tsx";
import { EmptyState, ErrorNotice, Skeleton } from "../ui/notice.tsx";
import { KnowledgeFrame } from "./knowledge-frame.tsx";
import { diffTexts } from "./mark-words.ts";

/** What a text would become of another one: what goes is struck out, what comes is marked, for eyes and ears. */
function DiffView({ label, before, after }: { label: string; before: string; after: string }) {
  const parts = useMemo(() => diffTexts(before, after), [before, after]);
  return (
    <div
      dir="auto"
      tabIndex={0}
      role="region"
      aria-label={label}
      className="max-h-96 overflow-y-auto rounded-lg border border-line bg-page px-3 py-2.5 text-sm wrap-anywhere whitespace-pre-wrap"
    >
      {parts.map(({ added, removed, value }, index) => {
        if (added) {
          return (
            <ins key={index} className="rounded-xs bg-ok-soft text-ok no-underline">
              {value}
            </ins>
          );
        }
        if (removed) {
          return (
            <del key={index} className="rounded-xs bg-bad-soft text-bad">
              {value}
            </del>
          );
        }
        return <span key={index}>{value}</span>;
      })}
    </div>
  );
}

/** A proposed change: what it is about, what it changes, and the decision. */
function ProposalCard({
  proposal,
  base,
  isCurrent,
  isBusy,
  mayDecide,
  onFocus,
  onAccept,
  onReject,
}: {
  proposal: Proposal;
  /** Name of its knowledge base; null where it is gone. */
  base: string | null;
  isCurrent: boolean;
  isBusy: boolean;
  mayDecide: boolean;
  onFocus: () => void;
  onAccept: () => void;
  onReject: () => void;
}) {
  const { t } = useTexts();
  const project = useProject();
  const { nameOf } = usePeople();
  const {
    action,
    after,
    before,
    createdAt,
    createdBy,
    decidedAt,
    decidedBy,
    id,
    question,
    reason,
    status,
    ticketId,
    title,
  } = proposal;
  const Icon = action === "replace" ? FilePen : FilePlus2;
  return (
    <li
      data-row={id}
      tabIndex={-1}
      onFocus={onFocus}
      className={`rounded-xl border bg-surface p-4 ${isCurrent ? "border-accent" : "border-line"}`}
    >
      <div className="flex items-start gap-3">
        <Icon aria-hidden className="mt-0.5 size-4.5 shrink-0 text-accent" />
        <div className="min-w-0 flex-1">
          <h2 className="text-base font-semibold wrap-anywhere" dir="auto">
            {title}
          </h2>
          <p className="text-xs text-muted">
            {t(action === "replace" ? "proposal.replaces" : "proposal.adds", { base: base ?? "–" })} ·{" "}
            {nameOf(createdBy)}, <Ago time={createdAt} as="past" />
            {ticketId !== null && (
              <>
                {" · "}
                <Link
                  to="/$project/inbox/$view/$ticketId"
                  params={{ project, view: "all", ticketId }}
                  className="font-medium text-accent hover:underline"
                >
                  {t("proposal.ticket")}
                </Link>
              </>
            )}
          </p>
        </div>
        {status !== "open" && <Badge tone={status === "accepted" ? "ok" : "plain"}>{t(`proposal.${status}`)}</Badge>}
      </div>
      {question !== null && (
        <p className="mt-3 border-l-2 border-line pl-3 text-sm text-muted wrap-anywhere" dir="auto">
          <span className="sr-only">{t("proposal.question")}: </span>
          {question}
        </p>
      )}
      <div className="mt-3">
        <DiffView label={t("proposal.change", { title })} before={before} after={after} />
      </div>
      {decidedAt !== null && (
        <p className="mt-2.5 text-xs text-muted wrap-anywhere">
          {t("proposal.decided", { name: nameOf(decidedBy ?? "") })} <Ago time={decidedAt} as="past" />
          {reason !== null && ` · ${reason}`}
        </p>
      )}
      {status === "open" && mayDecide && (
        <div className="mt-3 flex flex-wrap gap-2">
          <Button look="primary" isBusy={isBusy} onClick={onAccept} keys={isCurrent ? "a" : undefined}>
            <Check aria-hidden className="size-4" />
            {t("proposal.accept")}
          </Button>
          <Button isBusy={isBusy} onClick={onReject} keys={isCurrent ? "x" : undefined}>
            <X aria-hidden className="size-4" />
            {t("proposal.reject")}
          </Button>
        </div>
      )}
    </li>
  );
}

const REASON_MAX_CHARS = 2_000;

/** Asks why a proposed change is turned down, which may be left open. */
function RejectDialog({
  title,
  onReject,
  onClose,
}: {
  title: string;
  onReject: (reason: string) => void;
  onClose: () => void;
}) {
  const { t } = useTexts();
  const [reason, setReason] = useState("");
  return (
    <FormDialog
      title={t("proposal.reject")}
      width="small"
      action={t("proposal.reject")}
      look="danger"
      onSubmit={() => onReject(reason)}
      onClose={onClose}
    >
      <p className="text-sm font-medium wrap-anywhere">{title}</p>
      <TextArea
        label={t("proposal.reason")}
        hint={t("proposal.reasonHint")}
        rows={3}
        maxLength={REASON_MAX_CHARS}
        value={reason}
        onChange={({ currentTarget }) => setReason(currentTarget.value)}
      />
    </FormDialog>
  );
}

const STATUSES = ["open", "accepted", "rejected"] as const satisfies readonly ProposalStatus[];

/** What operators wrote better than the knowledge: taken over, or not. */
export function ProposalsPage() {
  const { t } = useTexts();
  const { connection, queryClient, toasts } = useServices();
  const project = useProject();
  const mayDecide = useRights()("kb:write");
  const [status, setStatus] = useState<ProposalStatus>("open");
  const [busyId, setBusyId] = useState<string | null>(null);
  const [rejecting, setRejecting] = useState<Proposal | null>(null);
  const kbs = useQuery(kbsQuery(connection, project));
  const proposals = useInfiniteQuery(proposalsQuery(connection, project, status));
  const items = proposals.data?.pages.flatMap((page) => page.items) ?? [];

  async function decide(proposal: Proposal, decision: Parameters<typeof decideProposal>[3]) {
    if (busyId !== null) return;
    setBusyId(proposal.id);
    setRejecting(null);
    try {
      await decideProposal(connection, project, proposal, decision);
      const done = decision.kind === "accept" ? "proposal.done.accept" : "proposal.done.reject";
      toasts.show({ kind: "done", text: t(done, { title: proposal.title }) });
    } catch (error) {
      toasts.show({ kind: "error", text: describeError(error, t) });
    }
    await queryClient.invalidateQueries({ queryKey: ["proposals", project] });
    setBusyId(null);
  }

  const { currentId, listRef, setCurrentId } = useRowKeys(items, (proposal) =>
    mayDecide && proposal.status === "open"
      ? [
          {
            id: "proposal-accept",
            title: t("proposal.accept"),
            group: "page",
            keys: "a",
            isDecision: true,
            run: () => void decide(proposal, { kind: "accept" }),
          },
          {
            id: "proposal-reject",
            title: t("proposal.reject"),
            group: "page",
            keys: "x",
            run: () => setRejecting(proposal),
          },
        ]
      : [],
  );

  return (
    <KnowledgeFrame>
      <ChoiceGroup
        label={t("gap.status")}
        hidesLabel
        value={status}
        onChange={(next) => {
          setCurrentId(null);
          setStatus(next);
        }}
        options={STATUSES.map((value) => ({ value, label: t(`proposal.${value}`) }))}
        className="mb-4 sm:w-80"
      />
      {proposals.isError && proposals.data === undefined && (
        <ErrorNotice error={proposals.error} onRetry={() => void proposals.refetch()} />
      )}
      {proposals.isPending && (
        <div aria-busy className="flex flex-col gap-4">
          {[0, 1].map((row) => (
            <Skeleton key={row} className="h-52 w-full rounded-xl" />
          ))}
        </div>
      )}
      {proposals.isSuccess && items.length === 0 && (
        <EmptyState icon={GitPullRequestArrow} title={t(`proposal.none.${status}`)} text={t("proposal.noneText")} />
      )}
      <ul ref={listRef} className="flex flex-col gap-4">
        {items.map((proposal) => (
          <ProposalCard
            key={proposal.id}
            proposal={proposal}
            base={kbs.data?.find(({ id }) => id === proposal.kbId)?.name ?? null}
            isCurrent={proposal.id === currentId}
            isBusy={proposal.id === busyId}
            mayDecide={mayDecide}
            onFocus={() => setCurrentId(proposal.id)}
            onAccept={() => void decide(proposal, { kind: "accept" })}
            onReject={() => setRejecting(proposal)}
          />
        ))}
      </ul>
      {proposals.hasNextPage && (
        <div className="mt-4 flex justify-center">
          <Button isBusy={proposals.isFetchingNextPage} onClick={() => void proposals.fetchNextPage()}>
            {t("ui.more")}
          </Button>
        </div>
      )}
      {rejecting !== null && (
        <RejectDialog
          title={rejecting.title}
          onReject={(reason) => void decide(rejecting, { kind: "reject", reason })}
          onClose={() => setRejecting(null)}
        />
      )}
    </KnowledgeFrame>
  );
}
