import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Bot, FolderInput } from "lucide-react";
import { useState } from "react";
import type { TicketDetail } from "@svc/contracts";
import { agentsQuery } from "../api/agents.ts";
import { useServices } from "../app/services.ts";
import { mayDo } from "../api/session.ts";
import { useSession } from "../app/use-session.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { useInbox } from "../inbox/inbox-context.ts";
import { Dialog } from "../ui/dialog.tsx";
import { SelectField } from "../ui/field.tsx";
import { PickList } from "../ui/pick-list.tsx";
import type { TicketActions } from "./use-ticket-actions.ts";

const NO_AGENT = "none";

/** Gives the ticket to another agent; who may write in another project's tickets, also to one of that project. */
export default function RerouteDialog({
  ticket,
  onClose,
  actions,
}: {
  ticket: TicketDetail;
  onClose: () => void;
  actions: TicketActions;
}) {
  const { t } = useTexts();
  const { connection } = useServices();
  const navigate = useNavigate();
  const { view } = useInbox();
  const session = useSession();
  const targets = session.projects.filter(
    ({ name }) =>
      name === ticket.project || (mayDo(session, name, "tickets:write") && mayDo(session, name, "agents:read")),
  );
  const [project, setProject] = useState(ticket.project);
  const { data: agents = [] } = useQuery(agentsQuery(connection, project));
  const isMoved = project !== ticket.project;
  async function pick(id: string) {
    onClose();
    const name = agents.find((agent) => agent.id === id)?.name ?? t("reroute.noAgent");
    const input = { agentId: id === NO_AGENT ? null : id, ...(isMoved ? { project } : {}) };
    const isDone = await actions.act("reroute", input, { done: t("done.reroute", { name }) });
    if (!isDone || !isMoved) return;
    // It is not to be seen in the former project any more.
    await navigate({ to: "/$project/inbox/$view/$ticketId", params: { project, view, ticketId: ticket.id } });
  }
  return (
    <Dialog title={t("action.reroute")} width="small" onClose={onClose}>
      {targets.length > 1 && (
        <SelectField
          label={t("project.label")}
          value={project}
          options={targets.map(({ name }) => ({ value: name, label: name }))}
          onChange={({ currentTarget }) => setProject(currentTarget.value)}
          className="border-b border-line p-4"
        />
      )}
      <PickList
        label={t("action.reroute")}
        empty={t("reroute.none")}
        onPick={(id) => void pick(id)}
        items={[
          ...agents
            .filter(({ enabled, id }) => enabled && (isMoved || id !== ticket.agentId))
            .map(({ description, id, name }) => ({
              id,
              words: `${name} ${description}`,
              view: (
                <>
                  <Bot aria-hidden className="size-4 shrink-0 text-faint" />
                  <span className="min-w-0">
                    <span className="block truncate font-medium">{name}</span>
                    <span className="block truncate text-xs text-muted">{description}</span>
                  </span>
                </>
              ),
            })),
          {
            id: NO_AGENT,
            words: t("reroute.noAgent"),
            view: (
              <>
                <FolderInput aria-hidden className="size-4 shrink-0 text-faint" />
                {t("reroute.noAgent")}
              </>
            ),
          },
        ]}
      />
    </Dialog>
  );
}
