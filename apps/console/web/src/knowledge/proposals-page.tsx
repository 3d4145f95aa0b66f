import { useState } from "react";
import { Link } from "@tanstack/react-router";
import { Check, FilePen, FilePlus2, X, GitPullRequestArrow } from "lucide-react";
import type { Proposal, ProposalStatus } from "@svc/contracts";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { decideProposal, proposalsQuery, kbsQuery } from "../api/knowledge.ts";
import { FormDialog } from "../forms/form-dialog.tsx";
import { useAction } from "../forms/use-settings-form.ts";
import { useTexts } from "../i18n/texts.ts";
import { Pages, itemsOf, useRowKeys } from "../lists/resource-page.tsx";
import { useServices, usePeople, useProject, useRights } from "../session/services.ts";
import { Ago, Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { ChoiceGroup } from "../ui/choice-fields.tsx";
import { TextArea } from "../ui/field.tsx";
import { EmptyState } from "../ui/notice.tsx";
import { DiffView } from "./article-editor.tsx";
import { KnowledgeFrame } from "./knowledge-frame.tsx";

/** Title, origin and status of a proposal. */
function ProposalHead({ proposal, base }: { proposal: Proposal; base: string | null }) {
  const { t } = useTexts();
  const project = useProject();
  const { nameOf } = usePeople();
  const { action, createdAt, createdBy, status, ticketId, title } = proposal;
  const Icon = action === "replace" ? FilePen : FilePlus2;
  return (
    <div className="flex items-start gap-3">
      <Icon aria-hidden className="mt-0.5 size-4.5 shrink-0 text-accent" />
      <div className="min-w-0 flex-1">
        <h2 className="text-base font-semibold wrap-anywhere" dir="auto">
          {title}
        </h2>
        <p className="text-xs text-muted">
          {t(action === "replace" ? "proposal.replaces" : "proposal.adds", { base: base ?? "–" })} · {nameOf(createdBy)}
          , <Ago time={createdAt} as="past" />
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
  );
}

/** A proposed change: its origin, the change, and the decision. */
function ProposalCard({
  proposal,
  base,
  isCurrent,
  isBusy,
  decision,
  onFocus,
}: {
  proposal: Proposal;
  /** Name of its knowledge base; null if that was deleted. */
  base: string | null;
  isCurrent: boolean;
  isBusy: boolean;
  /** Null if the operator may not decide. */
  decision: { accept: () => void; reject: () => void } | null;
  onFocus: () => void;
}) {
  const { t } = useTexts();
  const { nameOf } = usePeople();
  const { after, before, decidedAt, decidedBy, id, question, reason, status, title } = proposal;
  return (
    <li
      data-row={id}
      tabIndex={-1}
      onFocus={onFocus}
      className={`rounded-xl border bg-surface p-4 ${isCurrent ? "border-accent" : "border-line"}`}
    >
      <ProposalHead proposal={proposal} base={base} />
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
      {status === "open" && decision !== null && (
        <div className="mt-3 flex flex-wrap gap-2">
          <Button
            icon={Check}
            variant="primary"
            isBusy={isBusy}
            onClick={decision.accept}
            keys={isCurrent ? "a" : undefined}
          >
            {t("proposal.accept")}
          </Button>
          <Button icon={X} isBusy={isBusy} onClick={decision.reject} keys={isCurrent ? "x" : undefined}>
            {t("proposal.reject")}
          </Button>
        </div>
      )}
    </li>
  );
}

const REASON_MAX_CHARS = 2_000;

/** Asks for the reason of a rejection, which is optional. */
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
      variant="danger"
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
        onChange={setReason}
      />
    </FormDialog>
  );
}

const STATUSES = ["open", "accepted", "rejected"] as const satisfies readonly ProposalStatus[];

/** Returns a function that decides about one proposal at a time, and the ID of that one. */
function useDecide() {
  const { t } = useTexts();
  const { connection, queryClient } = useServices();
  const project = useProject();
  const [busyId, setBusyId] = useState<string | null>(null);
  const { runAside } = useAction();
  async function decide(proposal: Proposal, decision: Parameters<typeof decideProposal>[3]) {
    if (busyId !== null) return;
    setBusyId(proposal.id);
    await runAside(async () => {
      await decideProposal(connection, project, proposal, decision);
      return t(`proposal.done.${decision.kind}`, { title: proposal.title });
    });
    await queryClient.invalidateQueries({ queryKey: ["proposals", project] });
    setBusyId(null);
  }
  return { busyId, decide };
}

/** Changes to knowledge bases that were proposed after operators corrected answers: accepted, or rejected. */
// oxlint-disable-next-line max-lines-per-function -- one line for each part of the page and its state
export function ProposalsPage() {
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const mayDecide = useRights()("kb:write");
  const [status, setStatus] = useState<ProposalStatus>("open");
  const [rejecting, setRejecting] = useState<Proposal | null>(null);
  const kbs = useQuery(kbsQuery(connection, project));
  const proposals = useInfiniteQuery(proposalsQuery(connection, project, status));
  const items = itemsOf(proposals);
  const { busyId, decide } = useDecide();
  const decisionOf = (proposal: Proposal) => ({
    accept: () => void decide(proposal, { kind: "accept" }),
    reject: () => setRejecting(proposal),
  });

  const { currentId, listRef, setCurrentId } = useRowKeys(items, (proposal) => {
    const isOpen = mayDecide && proposal.status === "open";
    const { accept, reject } = decisionOf(proposal);
    return [
      isOpen && { id: "proposal-accept", title: t("proposal.accept"), keys: "a", isDecision: true, run: accept },
      isOpen && { id: "proposal-reject", title: t("proposal.reject"), keys: "x", run: reject },
    ];
  });

  function show(next: ProposalStatus) {
    setCurrentId(null);
    setStatus(next);
  }
  const empty = (
    <EmptyState icon={GitPullRequestArrow} title={t(`proposal.none.${status}`)} text={t("proposal.noneText")} />
  );
  return (
    <KnowledgeFrame>
      <ChoiceGroup
        label={t("gap.status")}
        hidesLabel
        value={status}
        onChange={show}
        options={STATUSES.map((value) => ({ value, label: t(`proposal.${value}`) }))}
        className="mb-4 sm:w-80"
      />
      <Pages query={proposals} skeleton="h-52 w-full rounded-xl" rows={2} empty={empty}>
        <ul ref={listRef} className="flex flex-col gap-4">
          {items.map((proposal) => (
            <ProposalCard
              key={proposal.id}
              proposal={proposal}
              base={kbs.data?.find(({ id }) => id === proposal.kbId)?.name ?? null}
              isCurrent={proposal.id === currentId}
              isBusy={proposal.id === busyId}
              decision={mayDecide ? decisionOf(proposal) : null}
              onFocus={() => setCurrentId(proposal.id)}
            />
          ))}
        </ul>
      </Pages>
      {rejecting !== null && (
        <RejectDialog
          title={rejecting.title}
          onReject={(reason) => {
            setRejecting(null);
            void decide(rejecting, { kind: "reject", reason });
          }}
          onClose={() => setRejecting(null)}
        />
      )}
    </KnowledgeFrame>
  );
}
