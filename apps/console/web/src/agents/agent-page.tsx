import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { ServiceFault } from "@svc/client";
import { ArrowLeft, Trash2 } from "lucide-react";
import { useState } from "react";
import type { Agent } from "@svc/contracts";
import { agentQuery } from "../api/agents.ts";
import { MissingPage } from "../app/error-page.tsx";
import { useServices } from "../app/services.ts";
import { useProject, useRights } from "../app/use-session.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { Button } from "../ui/button.tsx";
import { ConfirmDialog } from "../ui/confirm-dialog.tsx";
import { describeFault } from "../ui/describe-fault.ts";
import { FaultNotice } from "../ui/fault-notice.tsx";
import { PageFrame } from "../ui/page-frame.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { AgentEditor } from "./agent-editor.tsx";

/** Deletes the agent after asking: its chats go to others, which no undo could take back. */
function DeleteButton({ agent }: { agent: Agent }) {
  const { t } = useTexts();
  const { connection, queryClient, toasts } = useServices();
  const project = useProject();
  const navigate = useNavigate();
  const [isOpen, setOpen] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const { id, name, version } = agent;

  async function remove() {
    setBusy(true);
    try {
      await connection.call("deleteAgent", project, { params: { id }, ifMatch: version });
      toasts.show({ kind: "done", text: t("agents.deleted", { name }) });
      // Whoever has unsaved changes is not asked about them: what they were made for is gone.
      await navigate({ to: "/$project/agents", params: { project }, ignoreBlocker: true });
    } catch (fault) {
      const isChanged = fault instanceof ServiceFault && fault.code === "version_conflict";
      toasts.show({ kind: "fault", text: isChanged ? t("agents.changedMeanwhile") : describeFault(fault, t) });
      setOpen(false);
      void queryClient.invalidateQueries({ queryKey: ["agent", project, id] });
    } finally {
      setBusy(false);
      void queryClient.invalidateQueries({ queryKey: ["agents", project] });
    }
  }

  return (
    <>
      <Button look="danger" onClick={() => setOpen(true)}>
        <Trash2 aria-hidden className="size-4" />
        {t("agents.delete")}
      </Button>
      {isOpen && (
        <ConfirmDialog
          title={t("agents.deleteTitle", { name })}
          action={t("agents.delete")}
          isBusy={isBusy}
          onConfirm={() => void remove()}
          onClose={() => setOpen(false)}
        >
          {t("agents.deleteText")}
        </ConfirmDialog>
      )}
    </>
  );
}

/** One agent: what it is, and what it answers. */
export function AgentPage() {
  const { agentId } = useParams({ from: "/$project/agents/$agentId" });
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const mayWrite = useRights()("agents:write");
  const { data: agent, error, refetch } = useQuery(agentQuery(connection, project, agentId));
  const isGone = error instanceof ServiceFault && (error.status === 404 || error.status === 400);
  if (isGone && agent === undefined) return <MissingPage />;
  return (
    <PageFrame
      before={
        <Link
          to="/$project/agents"
          params={{ project }}
          className="mb-2 -ml-1 inline-flex items-center gap-1 rounded-md px-1 text-sm text-muted hover:text-ink"
        >
          <ArrowLeft aria-hidden className="size-4" />
          {t("nav.agents")}
        </Link>
      }
      title={agent?.name ?? <Skeleton className="my-1 h-5 w-48" />}
      actions={mayWrite && agent !== undefined && <DeleteButton agent={agent} />}
    >
      <div className="flex flex-col gap-4">
        {error !== null && <FaultNotice fault={error} onRetry={() => void refetch()} />}
        {agent === undefined && error === null && <Skeleton className="h-96 w-full rounded-xl" />}
        {agent !== undefined && <AgentEditor key={agent.id} agent={agent} />}
      </div>
    </PageFrame>
  );
}
