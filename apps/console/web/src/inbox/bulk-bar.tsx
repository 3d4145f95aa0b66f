import {
  AlarmClock,
  CircleCheck,
  EllipsisVertical,
  ListChecks,
  OctagonX,
  RotateCcw,
  SignalHigh,
  Tag,
  UserPlus,
  Users,
  X,
} from "lucide-react";
import { useState } from "react";
import type { TicketItem } from "@svc/contracts";
import { mayDo } from "../api/session.ts";
import { isWaiting, showTicket } from "../api/tickets.ts";
import { useTexts } from "../i18n/texts.ts";
import type { TextKey } from "../i18n/texts.ts";
import { useServices, useCommands, useSession } from "../session/services.ts";
import { IconButton } from "../ui/button.tsx";
import { lazyDialog } from "../ui/dialog.tsx";
import { Menu, MenuItem } from "../ui/menu.tsx";
import { applyBulk, undoBulk, runAll } from "./bulk-changes.ts";
import type { BulkChange } from "./bulk-changes.ts";
import type { BulkDialog, BulkErrors } from "./bulk-dialogs.tsx";

const BulkDialogs = lazyDialog(async () => (await import("./bulk-dialogs.tsx")).BulkDialogs);

/** What can be done with all selected tickets, with the keys that do it with the open ticket otherwise. */
const ACTIONS = {
  takeover: { title: "bulk.takeover", icon: UserPlus, keys: "i" },
  resolve: { title: "bulk.resolve", icon: CircleCheck, keys: "shift+e", isDecision: true },
  spam: { title: "bulk.spam", icon: OctagonX, keys: "!", isDecision: true },
  reopen: { title: "bulk.reopen", icon: RotateCcw, keys: "shift+o" },
} as const;

/** Returns the actions for the selected tickets: closed ones cannot be closed again, and open ones not opened. */
function actionsFor(tickets: readonly TicketItem[]): (keyof typeof ACTIONS)[] {
  const closed = tickets.filter(({ status }) => status === "resolved" || status === "spam").length;
  return [
    "takeover",
    ...(closed < tickets.length ? (["resolve", "spam"] as const) : []),
    ...(closed > 0 ? (["reopen"] as const) : []),
  ];
}
/** Number of actions in the bar itself; the others are in its menu. */
const IN_BAR = 2;

/** Changes after which tickets remain where they are, so that more can be done with them. */
const KEEPS_SELECTION: ReadonlySet<BulkChange["kind"]> = new Set(["assign", "priority", "tag", "takeover"]);

/** Applies changes to the selected tickets. Those that could not be changed, or remain where they are, stay selected. */
function useBulkChange(
  tickets: readonly TicketItem[],
  onSelect: (ids: ReadonlySet<string>) => void,
  onErrors: (errors: BulkErrors) => void,
) {
  const { t } = useTexts();
  const { connection, queryClient, toasts } = useServices();
  /** Number of finished tickets; null while nothing runs. */
  const [progress, setProgress] = useState<number | null>(null);
  const show = (item: TicketItem) => showTicket(queryClient, item.project, item);

  function showErrors(errors: BulkErrors) {
    if (errors.length === 0) return;
    const action = { label: t("bulk.show"), run: () => onErrors(errors) };
    toasts.show({ kind: "error", text: t("bulk.failed", { n: errors.length }), action });
  }

  async function run(change: BulkChange) {
    setProgress(0);
    const became = new Map<string, TicketItem>();
    const { done, errors } = await runAll(
      tickets,
      async (ticket) => {
        const after = await applyBulk(connection, ticket, change);
        became.set(ticket.id, after);
        show(after);
      },
      setProgress,
    );
    setProgress(null);
    if (!KEEPS_SELECTION.has(change.kind)) onSelect(new Set(errors.map(({ item }) => item.id)));
    async function takeBack() {
      const { errors: left } = await runAll(
        done,
        async (before) => show(await undoBulk(connection, { before, after: became.get(before.id) ?? before }, change)),
        () => undefined,
      );
      showErrors(left);
    }
    if (done.length > 0) {
      const action = { label: t("ui.undo"), run: () => void takeBack() };
      toasts.show({ kind: "done", text: t(`bulk.${change.kind}Done`, { n: done.length }), action });
    }
    showErrors(errors);
  }
  return { progress, run };
}

/** The actions for all selected tickets. */
// oxlint-disable-next-line max-lines-per-function -- the same actions as buttons, menu items and commands
export function BulkBar({
  tickets,
  onSelect,
  onSelectAll,
  onErrors,
}: {
  tickets: readonly TicketItem[];
  onSelect: (ids: ReadonlySet<string>) => void;
  /** Selects all tickets of the list; null if they are selected. */
  onSelectAll: (() => void) | null;
  /** Shows which tickets could not be changed, also after the selection was cleared. */
  onErrors: (errors: BulkErrors) => void;
}) {
  const { t } = useTexts();
  const session = useSession();
  const [dialog, setDialog] = useState<BulkDialog | null>(null);
  const mayWrite = tickets.some(({ project }) => mayDo(session, project, "tickets:write"));
  const { progress, run } = useBulkChange(tickets, onSelect, onErrors);
  function choose(kind: keyof typeof ACTIONS) {
    const waiting = tickets.filter(isWaiting).length;
    if (kind === "resolve" && waiting > 0) setDialog({ kind, count: tickets.length, waiting });
    else void run({ kind });
  }
  const isBusy = progress !== null;
  const names = actionsFor(tickets);
  const more = [
    { kind: "assign", title: "bulk.assign", icon: Users, keys: "#" },
    { kind: "tag", title: "bulk.tag", icon: Tag, keys: "t" },
    { kind: "priority", title: "bulk.priority", icon: SignalHigh },
    ...(names.includes("resolve")
      ? [{ kind: "snooze", title: "bulk.snooze", icon: AlarmClock, keys: "z" } as const]
      : []),
  ] as const;
  const inMenu = [
    ...names.slice(IN_BAR).map((kind) => ({ kind, ...ACTIONS[kind], run: () => void run({ kind }) })),
    ...more.map((item) => ({ ...item, run: () => setDialog({ kind: item.kind }) })),
  ];
  const commandOf = (
    kind: string,
    { title, keys, isDecision = false }: { title: TextKey; keys?: string; isDecision?: boolean },
    runIt: () => void,
  ) =>
    mayWrite && {
      id: `bulk-${kind}`,
      title: t("command.bulk", { action: t(title), n: tickets.length }),
      ...(keys === undefined ? {} : { keys }),
      isDecision,
      // While a change is made, its keys are not those of the open ticket.
      run: () => {
        if (!isBusy) runIt();
      },
    };
  useCommands("bulk", [
    ...names.map((name) => commandOf(name, ACTIONS[name], () => choose(name))),
    ...more.map(({ kind, ...item }) => commandOf(kind, item, () => setDialog({ kind }))),
  ]);

  return (
    <div
      role="toolbar"
      aria-label={t("bulk.bar")}
      className="animate-appear absolute inset-x-2 bottom-2 z-10 flex items-center gap-1 rounded-lg border border-line bg-raised p-1.5 shadow-pop"
    >
      <span role="status" className="truncate px-1.5 text-sm font-semibold tabular-nums">
        {isBusy
          ? t("bulk.progress", { done: progress, count: tickets.length })
          : t("bulk.selected", { n: tickets.length })}
      </span>
      <span className="flex-1" />
      {mayWrite && (
        <>
          {names.slice(0, IN_BAR).map((name) => (
            <IconButton
              key={name}
              icon={ACTIONS[name].icon}
              label={t(ACTIONS[name].title)}
              disabled={isBusy}
              className="size-7!"
              onClick={() => choose(name)}
            />
          ))}
          <Menu
            trigger={
              <IconButton icon={EllipsisVertical} label={t("bulk.more")} disabled={isBusy} className="size-7!" />
            }
          >
            {inMenu.map(({ icon, kind, title, run: choose }) => (
              <MenuItem key={kind} icon={icon} onSelect={choose}>
                {t(title)}
              </MenuItem>
            ))}
          </Menu>
        </>
      )}
      {onSelectAll !== null && (
        <IconButton icon={ListChecks} label={t("command.selectAll")} className="size-7!" onClick={onSelectAll} />
      )}
      <IconButton icon={X} size="small" label={t("bulk.clear")} keys="Escape" onClick={() => onSelect(new Set())} />
      {dialog !== null && (
        <BulkDialogs dialog={dialog} onClose={() => setDialog(null)} onChoose={(change) => void run(change)} />
      )}
    </div>
  );
}
