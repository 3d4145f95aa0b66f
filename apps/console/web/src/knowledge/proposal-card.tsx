import { Link } from "@tanstack/react-router";
import { Check, FilePen, FilePlus2, X } from "lucide-react";
import type { Proposal } from "@svc/contracts";
import { usePeople } from "../app/use-names.ts";
import { useProject } from "../app/use-session.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { Ago } from "../ui/ago.tsx";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { DiffView } from "./diff-view.tsx";

/** A proposed change: what it is about, what it changes, and the decision. */
export function ProposalCard({
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
