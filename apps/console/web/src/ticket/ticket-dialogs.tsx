import type { Agent, TicketDetail, TicketChange, TicketPriority } from "@svc/contracts";
import { UserX, Bot, FolderInput } from "lucide-react";
import { useId, useState } from "react";
import type { ReactNode } from "react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { agentsQuery } from "../api/administration.ts";
import { mayDo } from "../api/session.ts";
import { FormDialog } from "../forms/form-dialog.tsx";
import { useTexts } from "../i18n/texts.ts";
import { PRIORITIES } from "../inbox/ticket-marks.tsx";
import { useInbox } from "../inbox/use-ticket-list.ts";
import { useServices, usePeople, useSession } from "../session/services.ts";
import { Avatar } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { ConfirmDialog, Dialog } from "../ui/dialog.tsx";
import { formText, Field, SelectField } from "../ui/field.tsx";
import { Notice } from "../ui/notice.tsx";
import { PickList } from "../ui/choice-fields.tsx";
import { shownBelow } from "./describe-reason.ts";
import { differenceOf, pickOf } from "./read-ticket.ts";
import type { Decisions, TicketActions } from "./use-ticket-actions.ts";
import { TagsField, readTags } from "./reply-actions.tsx";
import { SnoozeDialog } from "./snooze-dialog.tsx";

interface DialogProps {
  ticket: TicketDetail;
  onClose: () => void;
}

/** Asks for confirmation before a draft below the threshold of its agent is sent. */
function ApproveDialog({
  ticket: { draft },
  threshold,
  onClose,
  onApprove,
}: DialogProps & { threshold: number; onApprove: () => void }) {
  const { percent, t } = useTexts();
  const submit = () => {
    onClose();
    onApprove();
  };
  return (
    <ConfirmDialog title={t("approve.title")} action={t("action.approve")} onClose={onClose} onConfirm={submit}>
      <p className="mb-2">
        {t("approve.text", {
          share: percent(shownBelow(draft?.confidence ?? 0, threshold)),
          threshold: percent(threshold),
        })}
      </p>
      <blockquote
        dir="auto"
        tabIndex={0}
        className="max-h-[40vh] overflow-y-auto border-l-2 border-line pl-3 wrap-anywhere whitespace-pre-wrap text-muted"
      >
        {draft?.text}
      </blockquote>
    </ConfirmDialog>
  );
}

const PICK_ICON = "size-4 shrink-0 text-faint";

/** Returns a row of a list, with an icon. */
const rowOf = (id: string, text: string, icon: ReactNode) => ({
  id,
  words: text,
  view: (
    <>
      {icon}
      <span className="truncate">{text}</span>
    </>
  ),
});

const UNASSIGNED = "nobody";

/** Assigns the ticket to an operator, or unassigns it. */
function AssignDialog({ ticket, onClose, onAssign }: DialogProps & { onAssign: (assignee: string | null) => void }) {
  const { t } = useTexts();
  const { people } = usePeople();
  const unassign = rowOf(UNASSIGNED, t("action.unassign"), <UserX aria-hidden className="size-4 text-muted" />);
  const others = people
    .filter(({ actor, mayWrite }) => mayWrite && actor !== ticket.assignee)
    .map(({ actor, isMe, name }) =>
      rowOf(actor, isMe ? t("people.me", { name }) : name, <Avatar name={name} size="small" />),
    );
  return (
    <Dialog title={t("action.assign")} width="small" onClose={onClose}>
      <PickList
        label={t("action.assign")}
        empty={t("people.none")}
        onPick={(id) => {
          onClose();
          onAssign(id === UNASSIGNED ? null : id);
        }}
        items={[...others, ...(ticket.assignee === null ? [] : [unassign])]}
      />
    </Dialog>
  );
}

/** Same value as in TICKET_LIMITS of the contracts; the server checks it. */
const SUBJECT_MAX_CHARS = 200;

/** Saves the edited fields, unless another operator has changed them meanwhile: `conflicts` describes these changes. */
function useChangeForm(ticket: TicketDetail, actions: TicketActions, onClose: () => void) {
  const { t } = useTexts();
  const [before] = useState(ticket);
  /** The ticket whose changes the notice shows; initially the opened one. */
  const [shownTicket, setShownTicket] = useState(ticket);
  const [theirs, setTheirs] = useState<TicketChange>({});
  async function submit(form: FormData) {
    const tags = readTags(formText(form, "tags"));
    const priority = formText(form, "priority") as TicketPriority;
    const change = differenceOf(before, { subject: formText(form, "subject"), priority, tags });
    if (Object.keys(change).length === 0) return onClose();
    const changedByOthers = pickOf(differenceOf(shownTicket, ticket), change);
    if (Object.keys(changedByOthers).length > 0) {
      setShownTicket(ticket);
      setTheirs(changedByOthers);
      return;
    }
    const isDone = await actions.change(change, {
      done: t("done.change"),
      undo: (after) => void actions.change(differenceOf(after, ticket), { version: after.version }),
    });
    if (isDone) onClose();
  }
  const conflicts = [
    ...(theirs.subject === undefined ? [] : [`${t("ticket.subject")}: ${theirs.subject}`]),
    ...(theirs.priority === undefined ? [] : [`${t("filter.priority")}: ${t(`priority.${theirs.priority}`)}`]),
    ...(theirs.tags === undefined ? [] : [`${t("ticket.tags")}: ${theirs.tags.join(", ")}`]),
  ];
  return { conflicts, submit };
}

/** Changes subject, priority and tags. */
function ChangeDialog({ ticket, onClose, actions }: DialogProps & { actions: TicketActions }) {
  const { t } = useTexts();
  const { conflicts, submit } = useChangeForm(ticket, actions, onClose);
  return (
    <FormDialog title={t("action.change")} width="small" action={t("ui.save")} onSubmit={submit} onClose={onClose}>
      <Field label={t("ticket.subject")} name="subject" defaultValue={ticket.subject} maxLength={SUBJECT_MAX_CHARS} />
      <SelectField
        label={t("filter.priority")}
        name="priority"
        defaultValue={ticket.priority}
        options={PRIORITIES.map((value) => ({ value, label: t(`priority.${value}`) }))}
      />
      <TagsField name="tags" label={t("ticket.tags")} before={ticket.tags} autoFocus />
      <div role="status" className="empty:hidden">
        {conflicts.length > 0 && (
          <Notice variant="warn">{t("change.overtaken", { what: conflicts.join(" · ") })}</Notice>
        )}
      </div>
    </FormDialog>
  );
}

/** Same value as in REVIEW_LIMITS of the contracts; the server checks it. */
const REASON_MAX_CHARS = 2_000;

/** Dismisses the draft, with an optional reason. */
function RejectDialog({ onClose, onReject }: { onClose: () => void; onReject: (reason?: string) => void }) {
  const { t } = useTexts();
  const id = useId();
  const [reason, setReason] = useState("");
  const submit = () => {
    onClose();
    onReject(reason.trim() === "" ? undefined : reason.trim());
  };
  return (
    <Dialog
      title={t("reject.title")}
      width="small"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t("ui.cancel")}</Button>
          <Button variant="danger" keys="mod+Enter" onClick={submit}>
            {t("action.reject")}
          </Button>
        </>
      }
    >
      <div className="p-4">
        <p className="mb-3 text-sm text-muted">{t("reject.text")}</p>
        <label htmlFor={id} className="mb-1 block text-sm font-medium">
          {t("reject.reason")}
        </label>
        <textarea
          id={id}
          autoFocus
          rows={3}
          maxLength={REASON_MAX_CHARS}
          value={reason}
          onChange={({ currentTarget }) => setReason(currentTarget.value)}
          onKeyDown={(event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && submit()}
          className="block w-full resize-none rounded-md border border-edge bg-surface px-2.5 py-1.5 text-base"
        />
      </div>
    </Dialog>
  );
}

const NO_AGENT = "none";

/** Returns the row of an agent. */
const agentRow = ({ description, id, name }: Agent) => ({
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
});

/** Reassigns the ticket to another agent, also in other projects in which the operator may write to tickets. */
function RerouteDialog({ ticket, onClose, actions }: DialogProps & { actions: TicketActions }) {
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
  const offered = agents.filter(({ enabled, id }) => enabled && (isMoved || id !== ticket.agentId));
  const noAgent = rowOf(NO_AGENT, t("reroute.noAgent"), <FolderInput aria-hidden className={PICK_ICON} />);
  async function pick(id: string) {
    onClose();
    const name = agents.find((agent) => agent.id === id)?.name ?? t("reroute.noAgent");
    const input = { agentId: id === NO_AGENT ? null : id, ...(isMoved ? { project } : {}) };
    const isDone = await actions.act("reroute", input, { done: t("done.reroute", { name }) });
    if (!isDone || !isMoved) return;
    // The ticket is no longer in the previous project.
    await navigate({ to: "/$project/inbox/$view/$ticketId", params: { project, view, ticketId: ticket.id } });
  }
  return (
    <Dialog title={t("action.reroute")} width="small" onClose={onClose}>
      {targets.length > 1 && (
        <SelectField
          label={t("project.label")}
          value={project}
          options={targets.map(({ name }) => ({ value: name, label: name }))}
          onChange={setProject}
          className="border-b border-line p-4"
        />
      )}
      <PickList
        label={t("action.reroute")}
        empty={t("reroute.none")}
        onPick={(id) => void pick(id)}
        items={[...offered.map(agentRow), noAgent]}
      />
    </Dialog>
  );
}

/** Asks for confirmation before a ticket is resolved whose customer waits for a reply. */
function ResolveDialog({ onClose, onResolve }: { onClose: () => void; onResolve: () => void }) {
  const { t } = useTexts();
  const submit = () => {
    onClose();
    onResolve();
  };
  return (
    <ConfirmDialog title={t("resolve.title")} action={t("resolve.confirm")} onClose={onClose} onConfirm={submit}>
      {t("resolve.text")}
    </ConfirmDialog>
  );
}

/** Name of a dialog of the ticket. */
export type TicketDialog = "assign" | "reject" | "resolve" | "approve" | "reroute" | "change" | "snooze";

/** The open dialog of a ticket. */
export function TicketDialogs({
  dialog,
  ticket,
  threshold,
  onClose,
  onApprove,
  decisions: { assign, reject, resolve, snooze },
  actions,
}: {
  dialog: TicketDialog;
  ticket: TicketDetail;
  threshold: number;
  onClose: () => void;
  /** Sends the draft after the operator has confirmed it. */
  onApprove: () => void;
  decisions: Decisions;
  actions: TicketActions;
}) {
  const props = { ticket, onClose };
  return (
    <>
      {dialog === "assign" && <AssignDialog {...props} onAssign={assign} />}
      {dialog === "reject" && <RejectDialog onClose={onClose} onReject={reject} />}
      {dialog === "resolve" && <ResolveDialog onClose={onClose} onResolve={() => resolve("resolved")} />}
      {dialog === "snooze" && <SnoozeDialog onClose={onClose} onSnooze={snooze} />}
      {dialog === "approve" && <ApproveDialog {...props} threshold={threshold} onApprove={onApprove} />}
      {dialog === "reroute" && <RerouteDialog {...props} actions={actions} />}
      {dialog === "change" && <ChangeDialog {...props} actions={actions} />}
    </>
  );
}
