import { Link } from "@tanstack/react-router";
import {
  AlarmClock,
  AlarmClockOff,
  ArrowLeft,
  CircleCheck,
  Copy,
  Download,
  EllipsisVertical,
  OctagonX,
  PanelRight,
  RotateCcw,
  Route,
  Tags,
  ThumbsDown,
  UserCheck,
  UserPlus,
} from "lucide-react";
import type { LucideIcon } from "lucide-react";
import { Fragment } from "react";
import type { TicketDetail } from "@svc/contracts";
import type { PresenceEventData } from "../api/connection.ts";
import { useTexts } from "../i18n/texts.ts";
import type { TextKey } from "../i18n/texts.ts";
import { customerName, isTask, taskPerson } from "../inbox/describe-ticket.ts";
import { DueMark, PriorityMark, StateMark, channelOf, severityOf } from "../inbox/ticket-marks.tsx";
import { useInbox } from "../inbox/use-ticket-list.ts";
import { usePeople, useProject, useRights } from "../session/services.ts";
import { Avatar } from "../ui/badge.tsx";
import { Button, IconButton } from "../ui/button.tsx";
import { Menu, MenuItem, MenuSeparator } from "../ui/menu.tsx";
import type { TicketDialog } from "./ticket-dialogs.tsx";

/** A link to the list, if the list is not beside the ticket. */
function BackToList() {
  const { t } = useTexts();
  const project = useProject();
  const { view, search } = useInbox();
  return (
    <Link
      to="/$project/inbox/$view"
      params={{ project, view }}
      search={search}
      aria-label={t("ticket.back")}
      className="-ml-1.5 flex size-8 shrink-0 items-center justify-center rounded-md text-muted hover:bg-hover lg:hidden"
    >
      <ArrowLeft aria-hidden className="size-4.5" />
    </Link>
  );
}

/** The state of a ticket, its channel, its customer, and the fields of a task. */
function HeaderFacts({ ticket }: { ticket: TicketDetail }) {
  const { t } = useTexts();
  const { icon: ChannelIcon, title } = channelOf(ticket);
  const name = customerName(ticket, t);
  const severity = isTask(ticket) ? severityOf(ticket.channel_meta["severity"]) : null;
  const person = isTask(ticket) ? taskPerson(ticket) : null;
  return (
    <p className="flex min-w-0 items-center gap-1.5 text-xs text-muted">
      <StateMark ticket={ticket} />
      <ChannelIcon aria-hidden className="ml-1 size-3.5 shrink-0 text-faint" />
      {/* On a phone only a task's icon, source and severity fit. */}
      <span className={`shrink-0 ${severity === null ? "" : "max-sm:sr-only"}`}>{t(title)}</span>
      {name !== t(title) && (
        <>
          <span aria-hidden className={severity === null ? "" : "max-sm:hidden"}>
            ·
          </span>
          <bdi title={ticket.customer?.email ?? undefined} className="truncate">
            {name}
          </bdi>
        </>
      )}
      {severity !== null && (
        <>
          <span aria-hidden>·</span>
          <span className="shrink-0">{t("task.severity", { severity: t(`priority.${severity}`) })}</span>
        </>
      )}
      {person !== null && (
        <>
          <span aria-hidden>·</span>
          <bdi className="truncate">{t("task.for", { person })}</bdi>
        </>
      )}
      {isTask(ticket) && <DueMark ticket={ticket} />}
    </p>
  );
}

type Viewers = readonly PresenceEventData["viewers"][number][];

/** The operators who view the ticket, and one who is typing. */
function ViewerList({ viewers }: { viewers: Viewers }) {
  const { t } = useTexts();
  const typing = viewers.find(({ isTyping }) => isTyping);
  return (
    <div role="status" className="flex shrink-0 items-center gap-1.5">
      {typing !== undefined && (
        <span className="text-xs text-muted max-md:hidden">{t("presence.typing", { name: typing.name })}</span>
      )}
      {viewers.length > 0 && (
        <span className="flex -space-x-1.5">
          {viewers.slice(0, 4).map(({ operatorId, name }) => (
            <span key={operatorId} className="rounded-full ring-2 ring-surface">
              <Avatar name={name} label={t("presence.here", { name })} />
            </span>
          ))}
        </span>
      )}
    </div>
  );
}

/** Actions of the buttons of a ticket. */
interface HeaderHandlers {
  askToResolve: () => void;
  assign: (assignee: string) => void;
  resolve: (as: "spam") => void;
  reopen: () => void;
  unsnooze: () => void;
  openDialog: (dialog: TicketDialog) => void;
  saveTranscript: () => void;
  copyLink: () => void;
  toggleDetails: () => void;
}

/** The menu of a ticket. */
function TicketMenu({
  ticket,
  isClosed,
  handlers,
}: {
  ticket: TicketDetail;
  isClosed: boolean;
  handlers: HeaderHandlers;
}) {
  const { t } = useTexts();
  const mayWrite = useRights()("tickets:write");
  const { askToResolve, copyLink, openDialog, reopen, resolve, saveTranscript } = handlers;
  const canReject = ticket.stage === "review" && !isTask(ticket);
  const items: { icon: LucideIcon; keys: string; title: TextKey; isDanger?: true; run: () => void }[][] = [
    [
      { icon: UserPlus, keys: "#", title: "action.assign", run: () => openDialog("assign") },
      { icon: Route, keys: "m", title: "action.reroute", run: () => openDialog("reroute") },
      ...(isClosed
        ? []
        : [{ icon: AlarmClock, keys: "z", title: "action.snooze", run: () => openDialog("snooze") } as const]),
      ...(ticket.snooze === null
        ? []
        : [{ icon: AlarmClockOff, keys: "shift+z", title: "action.unsnooze", run: handlers.unsnooze } as const]),
      { icon: Tags, keys: "t", title: "action.change", run: () => openDialog("change") },
      ...(canReject
        ? [{ icon: ThumbsDown, keys: "shift+x", title: "action.reject", run: () => openDialog("reject") } as const]
        : []),
    ],
    isClosed
      ? [{ icon: RotateCcw, keys: "shift+o", title: "action.reopen", run: reopen }]
      : [
          { icon: CircleCheck, keys: "shift+e", title: "action.resolve", run: askToResolve },
          { icon: OctagonX, keys: "!", title: "action.spam", isDanger: true, run: () => resolve("spam") },
        ],
  ];
  return (
    <Menu trigger={<IconMenuButton label={t("ticket.more")} />}>
      {mayWrite &&
        items.map((group) => (
          <Fragment key={group[0]?.title}>
            {group.map(({ title, run, ...item }) => (
              <MenuItem key={title} {...item} onSelect={run}>
                {t(title)}
              </MenuItem>
            ))}
            <MenuSeparator />
          </Fragment>
        ))}
      {!isTask(ticket) && (
        <MenuItem icon={Download} onSelect={saveTranscript}>
          {t("action.transcript")}
        </MenuItem>
      )}
      <MenuItem icon={Copy} onSelect={copyLink}>
        {t("action.copyLink")}
      </MenuItem>
    </Menu>
  );
}

/** Buttons for the most frequent actions; on a phone they are in the menu. */
function QuickActions({
  ticket,
  isClosed,
  handlers,
  isBusy,
}: {
  ticket: TicketDetail;
  isClosed: boolean;
  handlers: HeaderHandlers;
  isBusy: boolean;
}) {
  const { t } = useTexts();
  const { me } = usePeople();
  return (
    <div className="flex gap-1 max-sm:hidden">
      {ticket.assignee !== me && (
        <IconButton
          icon={UserCheck}
          label={t("action.take")}
          keys="i"
          disabled={isBusy}
          onClick={() => handlers.assign(me)}
        />
      )}
      {!isClosed && (
        <IconButton
          icon={AlarmClock}
          label={t("action.snooze")}
          keys="z"
          onClick={() => handlers.openDialog("snooze")}
        />
      )}
    </div>
  );
}

/** Subject and state of a ticket, its other viewers, and the actions for it as a whole. */
export function TicketHeader({
  ticket,
  viewers,
  handlers,
  hasDetails,
  isBusy,
}: {
  ticket: TicketDetail;
  viewers: Viewers;
  handlers: HeaderHandlers;
  hasDetails: boolean;
  isBusy: boolean;
}) {
  const { t } = useTexts();
  const mayWrite = useRights()("tickets:write");
  const { priority, status, subject } = ticket;
  const isClosed = status === "resolved" || status === "spam";
  return (
    <header className="flex min-h-14 shrink-0 items-center gap-2.5 border-b border-line px-5 py-2 max-sm:px-3">
      <BackToList />
      <div className="min-w-0 flex-1">
        <div className="flex min-w-0 items-center gap-2">
          <h2 dir="auto" className="truncate text-base font-semibold">
            {subject === "" ? t("ticket.noSubject") : subject}
          </h2>
          <PriorityMark priority={priority} />
        </div>
        <HeaderFacts ticket={ticket} />
      </div>
      <ViewerList viewers={viewers} />
      {mayWrite && <QuickActions ticket={ticket} isClosed={isClosed} handlers={handlers} isBusy={isBusy} />}
      {mayWrite && (
        <Button
          icon={isClosed ? RotateCcw : CircleCheck}
          isBusy={isBusy}
          onClick={isClosed ? handlers.reopen : handlers.askToResolve}
          className="max-sm:hidden"
        >
          {t(isClosed ? "action.reopen" : "action.resolve")}
        </Button>
      )}
      <TicketMenu ticket={ticket} isClosed={isClosed} handlers={handlers} />
      <IconButton
        icon={PanelRight}
        label={t("action.details")}
        keys="d"
        isPressed={hasDetails}
        className="@5xl:hidden"
        onClick={handlers.toggleDetails}
      />
    </header>
  );
}

function IconMenuButton({ label, ...rest }: { label: string }) {
  return (
    <button
      type="button"
      {...rest}
      aria-label={label}
      className="inline-flex size-8 shrink-0 items-center justify-center rounded-md text-muted hover:bg-hover hover:text-ink"
    >
      <EllipsisVertical aria-hidden className="size-4" />
    </button>
  );
}
