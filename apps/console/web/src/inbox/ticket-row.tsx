import { Link } from "@tanstack/react-router";
import type { TicketItem } from "@svc/contracts";
import { useTexts } from "../i18n/use-texts.ts";
import { Ago } from "../ui/ago.tsx";
import { Avatar } from "../ui/avatar.tsx";
import type { InboxSearch } from "./inbox-search.ts";
import { customerName, isTask, snippetOf, taskPerson } from "./describe-ticket.ts";
import { ChannelMark, ConfidenceMark, DueMark, PriorityMark, StateMark } from "./ticket-marks.tsx";

/** A ticket in the list. */
export function TicketRow({
  ticket,
  showsProject,
  view,
  search,
  assigneeName,
  me,
  nameOf,
  isCurrent,
  isSelected,
  onToggle,
  onPoint,
}: {
  ticket: TicketItem;
  /** True in a list of several projects. */
  showsProject: boolean;
  view: string;
  search: InboxSearch;
  assigneeName: string | null;
  /** The actor who looks at the list, and the names of others. */
  me: string;
  nameOf: (actor: string) => string;
  isCurrent: boolean;
  isSelected: boolean;
  onToggle: (id: string) => void;
  /** Is told when the ticket is likely to be opened next. */
  onPoint: (ticket: TicketItem) => void;
}) {
  const { t } = useTexts();
  const { confidence, id, priority, project, subject, tags, updatedAt } = ticket;
  const subjectText = subject === "" ? t("ticket.noSubject") : subject;
  const name = customerName(ticket, t);
  const person = isTask(ticket) ? taskPerson(ticket) : null;
  const snippet = snippetOf(ticket, { me, nameOf, t });
  const isWaitingForPerson = ticket.stage === "review" || ticket.stage === "failed";
  return (
    <div
      className={`group relative h-full border-b border-line ${isSelected ? "bg-accent-soft" : isCurrent ? "bg-hover" : ""}`}
    >
      {isCurrent && <span aria-hidden className="absolute inset-y-0 left-0 w-0.75 bg-accent" />}
      <Link
        to="/$project/inbox/$view/$ticketId"
        params={{ project, view, ticketId: id }}
        search={search}
        aria-current={isCurrent ? "true" : undefined}
        onPointerEnter={() => onPoint(ticket)}
        className="flex h-full flex-col justify-center gap-0.5 py-2 pr-3.5 pl-9 hover:bg-hover focus-visible:-outline-offset-2"
      >
        <span className="flex items-center gap-1.5 text-xs text-muted">
          <ChannelMark ticket={ticket} />
          <span className="min-w-0 flex-1 truncate">
            {isTask(ticket) && name !== t("task.title") && `${t("task.title")} · `}
            <bdi>{name}</bdi>
            {person !== null && (
              <>
                {" · "}
                <bdi title={t("task.for", { person })}>{person}</bdi>
              </>
            )}
          </span>
          {tags.slice(0, 2).map((tag) => (
            <span key={tag} className="max-w-20 truncate text-2xs text-faint">
              #{tag}
            </span>
          ))}
          {showsProject && (
            <span
              title={t("ticket.inProject", { project })}
              className="max-w-28 truncate rounded bg-sunken px-1.5 text-2xs"
            >
              {project}
            </span>
          )}
          <PriorityMark priority={priority} />
          <Ago time={updatedAt} className="shrink-0 text-faint tabular-nums" />
        </span>
        <span className="flex gap-2">
          <span className="min-w-0 flex-1">
            <span
              dir="auto"
              className={`block text-sm text-ink ${snippet === null ? "line-clamp-2" : "truncate"} ${isWaitingForPerson ? "font-semibold" : "font-medium"}`}
            >
              {subjectText}
            </span>
            {snippet !== null && (
              <span dir="auto" className="block truncate text-xs leading-5 text-muted">
                {snippet}
              </span>
            )}
          </span>
          <span className="flex h-10 shrink-0 flex-col items-end">
            <span className="flex h-5 items-center">
              <StateMark ticket={ticket} />
            </span>
            <span className="flex h-5 items-center gap-1.5">
              {isTask(ticket) ? <DueMark ticket={ticket} /> : <ConfidenceMark confidence={confidence} />}
              {assigneeName !== null && (
                <Avatar name={assigneeName} size="small" label={t("ticket.assignedTo", { name: assigneeName })} />
              )}
            </span>
          </span>
        </span>
      </Link>
      <label className="absolute inset-y-0 left-0 flex w-9 items-center justify-center">
        <input
          type="checkbox"
          checked={isSelected}
          onChange={() => onToggle(id)}
          aria-label={t("inbox.select", { subject: subjectText })}
          className={`size-4 accent-(--accent) ${isSelected ? "" : "opacity-0 group-hover:opacity-100 focus-visible:opacity-100 max-lg:opacity-100"}`}
        />
        {!isSelected && isWaitingForPerson && (
          <span aria-hidden className="absolute size-1.5 rounded-full bg-accent group-hover:hidden max-lg:hidden" />
        )}
      </label>
    </div>
  );
}
