import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { GitPullRequestArrow } from "lucide-react";
import { useState } from "react";
import type { Proposal, ProposalStatus } from "@svc/contracts";
import { kbsQuery } from "../api/kb.ts";
import { decideProposal, proposalsQuery } from "../api/proposals.ts";
import { useServices } from "../app/services.ts";
import { useProject, useRights } from "../app/use-session.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { Button } from "../ui/button.tsx";
import { ChoiceGroup } from "../ui/choice-group.tsx";
import { describeFault } from "../ui/describe-fault.ts";
import { EmptyState } from "../ui/empty-state.tsx";
import { FaultNotice } from "../ui/fault-notice.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { KnowledgeFrame } from "./knowledge-frame.tsx";
import { ProposalCard } from "./proposal-card.tsx";
import { RejectDialog } from "./reject-dialog.tsx";
import { useRowKeys } from "./use-row-keys.ts";

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
    } catch (fault) {
      toasts.show({ kind: "fault", text: describeFault(fault, t) });
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
        <FaultNotice fault={proposals.error} onRetry={() => void proposals.refetch()} />
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
