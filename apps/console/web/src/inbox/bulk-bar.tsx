import { useQueryClient } from "@tanstack/react-query";
import { CircleCheck, OctagonX, RotateCcw, UserPlus, X } from "lucide-react";
import { useState } from "react";
import { ServiceFault } from "@svc/client";
import type { TicketItem } from "@svc/contracts";
import { decide, showTicket } from "../api/tickets.ts";
import { useCommands } from "../app/command-registry.ts";
import { useServices } from "../app/services.ts";
import { useProject, useRights } from "../app/use-session.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { Button } from "../ui/button.tsx";
import { IconButton } from "../ui/icon-button.tsx";
import { runAll } from "./run-all.ts";

const ACTIONS = {
  takeover: { title: "bulk.takeover", done: "bulk.takeoverDone", icon: UserPlus, undo: "unassign" },
  resolve: { title: "bulk.resolve", done: "bulk.resolveDone", icon: CircleCheck, undo: "reopen" },
  spam: { title: "bulk.spam", done: "bulk.spamDone", icon: OctagonX, undo: "reopen" },
  reopen: { title: "bulk.reopen", done: "bulk.reopenDone", icon: RotateCcw, undo: "resolve" },
} as const;
type BulkAction = keyof typeof ACTIONS | "unassign";

/** What can be done with all tickets that are selected. */
export function BulkBar({ tickets, onClear }: { tickets: readonly TicketItem[]; onClear: () => void }) {
  const { t } = useTexts();
  const { connection, toasts } = useServices();
  const queryClient = useQueryClient();
  const project = useProject();
  const mayDo = useRights();
  const [progress, setProgress] = useState<number | null>(null);

  const call = async (ticket: TicketItem, action: BulkAction) => {
    const place = { id: ticket.id, project: ticket.project, version: null };
    const item =
      action === "spam" || action === "resolve"
        ? await decide(connection, place, "resolve", { status: action === "spam" ? "spam" : "resolved" })
        : await decide(connection, place, action, {});
    showTicket(queryClient, project, item);
  };
  async function run(action: keyof typeof ACTIONS, chosen = tickets) {
    setProgress(0);
    const { done, faults } = await runAll(chosen, (ticket) => call(ticket, action), setProgress);
    setProgress(null);
    onClear();
    const { undo } = ACTIONS[action];
    if (done.length > 0) {
      toasts.show({
        kind: "done",
        text: t(ACTIONS[action].done, { n: done.length }),
        action: {
          // What waited has ended where a ticket was closed: opening it again does not bring back its draft.
          label: undo === "reopen" ? t("action.reopen") : t("ui.undo"),
          run: () =>
            void runAll(
              done,
              (ticket) => call(ticket, undo),
              () => undefined,
            ).then(({ faults: left }) => {
              if (left.length > 0) toasts.show({ kind: "fault", text: t("bulk.failed", { n: left.length, why: "" }) });
            }),
        },
      });
    }
    const [first] = faults;
    if (first !== undefined) {
      const why = first instanceof ServiceFault ? first.detail : t("fault.unknown");
      toasts.show({ kind: "fault", text: t("bulk.failed", { n: faults.length, why }) });
    }
  }
  const isBusy = progress !== null;
  const names = Object.keys(ACTIONS) as (keyof typeof ACTIONS)[];
  useCommands(
    mayDo("tickets:write")
      ? names.map((name) => ({
          id: `bulk-${name}`,
          title: t("command.bulk", { action: t(ACTIONS[name].title), n: tickets.length }),
          group: "bulk" as const,
          run: () => void run(name),
        }))
      : [],
  );

  return (
    <div
      role="toolbar"
      aria-label={t("bulk.bar")}
      className="animate-appear absolute inset-x-2 bottom-2 z-10 flex flex-wrap items-center gap-1 rounded-lg border border-line bg-raised p-1.5 shadow-pop"
    >
      <span role="status" className="px-1.5 text-sm font-semibold tabular-nums">
        {isBusy
          ? t("bulk.progress", { done: progress, count: tickets.length })
          : t("bulk.selected", { n: tickets.length })}
      </span>
      <span className="flex-1" />
      {mayDo("tickets:write") &&
        names.map((name) => {
          const { icon: Icon, title } = ACTIONS[name];
          return (
            <Button key={name} size="small" look="quiet" isBusy={isBusy} onClick={() => void run(name)}>
              <Icon aria-hidden className="size-3.5" />
              {t(title)}
            </Button>
          );
        })}
      <IconButton icon={X} size="small" label={t("bulk.clear")} keys="Escape" onClick={onClear} />
    </div>
  );
}
