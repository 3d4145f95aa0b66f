import { Suspense, lazy } from "react";
import type { TicketDetail } from "@svc/contracts";
import { PendingDialog } from "../ui/pending-dialog.tsx";
import type { TicketActions } from "./use-ticket-actions.ts";

const AssignDialog = lazy(() => import("./assign-dialog.tsx"));
const RejectDialog = lazy(() => import("./reject-dialog.tsx"));
const ResolveDialog = lazy(() => import("./resolve-dialog.tsx"));
const ApproveDialog = lazy(() => import("./approve-dialog.tsx"));
const RerouteDialog = lazy(() => import("./reroute-dialog.tsx"));
const ChangeDialog = lazy(() => import("./change-dialog.tsx"));

/** What is asked before something is done with a ticket. */
export type TicketDialog = "assign" | "reject" | "resolve" | "approve" | "reroute" | "change";

/** The dialog that is open; its script is fetched when it is first needed. */
export function TicketDialogs({
  dialog,
  ticket,
  threshold,
  onClose,
  onAssign,
  onReject,
  onResolve,
  onApprove,
  actions,
}: {
  dialog: TicketDialog | null;
  ticket: TicketDetail;
  threshold: number;
  onClose: () => void;
  onAssign: (assignee: string | null) => void;
  onReject: (reason?: string) => void;
  onResolve: () => void;
  onApprove: () => void;
  actions: TicketActions;
}) {
  return (
    <Suspense fallback={<PendingDialog />}>
      {dialog === "assign" && <AssignDialog ticket={ticket} onClose={onClose} onAssign={onAssign} />}
      {dialog === "reject" && <RejectDialog onClose={onClose} onReject={onReject} />}
      {dialog === "resolve" && <ResolveDialog onClose={onClose} onResolve={onResolve} />}
      {dialog === "approve" && (
        <ApproveDialog ticket={ticket} threshold={threshold} onClose={onClose} onApprove={onApprove} />
      )}
      {dialog === "reroute" && <RerouteDialog ticket={ticket} onClose={onClose} actions={actions} />}
      {dialog === "change" && <ChangeDialog ticket={ticket} onClose={onClose} actions={actions} />}
    </Suspense>
  );
}
