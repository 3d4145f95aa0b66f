import { Link } from "@tanstack/react-router";
import {
  ArrowLeft,
  CircleCheck,
  Copy,
  EllipsisVertical,
  OctagonX,
  PanelRight,
  RotateCcw,
  Route,
  Tags,
  ThumbsDown,
  UserPlus,
} from "lucide-react";
import type { TicketDetail } from "@svc/contracts";
import type { PresenceEventData } from "../api/live.ts";
import { useTexts } from "../i18n/texts.ts";
import { customerName, isTask, taskPerson } from "../inbox/describe-ticket.ts";
import { DueMark, PriorityMark, StateMark, channelOf, severityOf } from "../inbox/ticket-marks.tsx";
import { useInbox } from "../inbox/use-ticket-list.ts";
import { useProject, useRights } from "../session/services.ts";
import { Avatar } from "../ui/badge.tsx";
import { Button, IconButton } from "../ui/button.tsx";
import { Menu, MenuItem, MenuLine } from "../ui/menu.tsx";
import type { TicketDialog } from "./ticket-dialogs.tsx";

/** The way back to the list, where that is not beside the ticket. */
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

/** What a ticket is about, its state, who else looks at it, and what can be done with it as a whole. */
export function TicketHeader({
  ticket,
  viewers,
  actions: { resolve, reopen, openDialog, copyLink, toggleDetails },
  hasDetails,
  isBusy,
}: {
  ticket: TicketDetail;
  viewers: readonly PresenceEventData["viewers"][number][];
  actions: {
    resolve: (as: "resolved" | "spam") => void;
    reopen: () => void;
    openDialog: (dialog: TicketDialog) => void;
    copyLink: () => void;
    toggleDetails: () => void;
  };
  hasDetails: boolean;
  isBusy: boolean;
}) {
  const { t } = useTexts();
  const mayWrite = useRights()("tickets:write");
  const { channel_meta: meta, customer, priority, status, subject } = ticket;
  const { icon: ChannelIcon, title: channelTitle } = channelOf(ticket);
  const name = customerName(ticket, t);
  const severity = isTask(ticket) ? severityOf(meta["severity"]) : null;
  const person = isTask(ticket) ? taskPerson(ticket) : null;
  const isClosed = status === "resolved" || status === "spam";
  const typing = viewers.filter((viewer) => viewer.isTyping);
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
        <p className="flex min-w-0 items-center gap-1.5 text-xs text-muted">
          <StateMark ticket={ticket} />
          <ChannelIcon aria-hidden className="ml-1 size-3.5 shrink-0 text-faint" />
          {/* A phone has no room for more than a task's icon, source and severity. */}
          <span className={`shrink-0 ${severity === null ? "" : "max-sm:sr-only"}`}>{t(channelTitle)}</span>
          {name !== t(channelTitle) && (
            <>
              <span aria-hidden className={severity === null ? "" : "max-sm:hidden"}>
                ·
              </span>
              <bdi title={customer?.email ?? undefined} className="truncate">
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
      </div>
      <div role="status" className="flex shrink-0 items-center gap-1.5">
        {typing[0] !== undefined && (
          <span className="text-xs text-muted max-md:hidden">{t("presence.typing", { name: typing[0].name })}</span>
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
      {mayWrite &&
        (isClosed ? (
          <Button icon={RotateCcw} isBusy={isBusy} onClick={reopen} className="max-sm:hidden">
            {t("action.reopen")}
          </Button>
        ) : (
          <Button icon={CircleCheck} isBusy={isBusy} onClick={() => resolve("resolved")} className="max-sm:hidden">
            {t("action.resolve")}
          </Button>
        ))}
      <Menu trigger={<IconMenuButton label={t("ticket.more")} />}>
        {mayWrite && (
          <>
            <MenuItem icon={UserPlus} keys="#" onSelect={() => openDialog("assign")}>
              {t("action.assign")}
            </MenuItem>
            <MenuItem icon={Route} keys="m" onSelect={() => openDialog("reroute")}>
              {t("action.reroute")}
            </MenuItem>
            <MenuItem icon={Tags} keys="t" onSelect={() => openDialog("change")}>
              {t("action.change")}
            </MenuItem>
            {ticket.stage === "review" && !isTask(ticket) && (
              <MenuItem icon={ThumbsDown} keys="shift+x" onSelect={() => openDialog("reject")}>
                {t("action.reject")}
              </MenuItem>
            )}
            <MenuLine />
            {isClosed ? (
              <MenuItem icon={RotateCcw} keys="shift+o" onSelect={reopen}>
                {t("action.reopen")}
              </MenuItem>
            ) : (
              <>
                <MenuItem icon={CircleCheck} keys="shift+e" onSelect={() => resolve("resolved")}>
                  {t("action.resolve")}
                </MenuItem>
                <MenuItem icon={OctagonX} keys="!" isDanger onSelect={() => resolve("spam")}>
                  {t("action.spam")}
                </MenuItem>
              </>
            )}
            <MenuLine />
          </>
        )}
        <MenuItem icon={Copy} onSelect={copyLink}>
          {t("action.copyLink")}
        </MenuItem>
      </Menu>
      <IconButton
        icon={PanelRight}
        label={t("action.details")}
        keys="d"
        isPressed={hasDetails}
        className="@5xl:hidden"
        onClick={toggleDetails}
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
