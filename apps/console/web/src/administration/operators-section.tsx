import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { Ban, EllipsisVertical, Link2, Pencil, Plus, Trash2, UserCheck, Users, X } from "lucide-react";
import { useDeferredValue, useState } from "react";
import type { Operator, OperatorRole } from "@svc/contracts";
import { operatorPagesQuery } from "../api/administration.ts";
import { FormDialog, useFields } from "../forms/form-dialog.tsx";
import { useAction } from "../forms/use-settings-form.ts";
import { useTexts } from "../i18n/texts.ts";
import { ResourcePage, ShownOnceDialog } from "../lists/resource-page.tsx";
import { useProject, useServices, useSession } from "../session/services.ts";
import { Ago, Avatar, Badge } from "../ui/badge.tsx";
import { Button, IconButton } from "../ui/button.tsx";
import { ConfirmDialog } from "../ui/dialog.tsx";
import { Field, SelectField } from "../ui/field.tsx";
import { Menu, MenuItem, MenuSeparator } from "../ui/menu.tsx";

/** A role in one project, or in all of them (`*`). */
interface Role {
  project: string;
  role: OperatorRole;
}

const ROLES = ["administrator", "operator", "viewer"] as const satisfies readonly OperatorRole[];
const EVERYWHERE = "*";

/** The roles of an operator: one per project, and one for all projects. */
function RolesField({ roles, onChange }: { roles: readonly Role[]; onChange: (roles: Role[]) => void }) {
  const { t } = useTexts();
  const { projects } = useSession();
  const all = [...new Set([EVERYWHERE, ...projects.map(({ name }) => name), ...roles.map(({ project }) => project)])];
  const free = all.filter((name) => !roles.some(({ project }) => project === name));
  const [next] = [...free.filter((name) => name !== EVERYWHERE), ...free];
  const nameOf = (project: string) => (project === EVERYWHERE ? t("adminKeys.all") : project);
  const change = (at: number, part: Partial<Role>) =>
    onChange(roles.map((role, index) => (index === at ? { ...role, ...part } : role)));
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1 text-sm font-medium">{t("operators.roles")}</legend>
      {roles.length === 0 && <p className="text-sm text-muted">{t("operators.noRole")}</p>}
      {roles.map(({ project, role }, at) => (
        <div key={project} className="flex items-center gap-2">
          <SelectField
            label={t("project.label")}
            hidesLabel
            className="min-w-0 flex-1"
            value={project}
            options={all
              .filter((name) => name === project || free.includes(name))
              .map((name) => ({ value: name, label: nameOf(name) }))}
            onChange={(value) => change(at, { project: value })}
          />
          <SelectField
            label={t("operators.roleIn", { project: nameOf(project) })}
            hidesLabel
            className="w-40"
            value={role}
            options={ROLES.map((value) => ({ value, label: t(`role.${value}`) }))}
            onChange={(value) => change(at, { role: value })}
          />
          <IconButton
            icon={X}
            label={t("operators.removeRole", { project: nameOf(project) })}
            onClick={() => onChange(roles.filter((_, index) => index !== at))}
          />
        </div>
      ))}
      {next !== undefined && (
        <Button
          icon={Plus}
          size="small"
          className="self-start"
          onClick={() => onChange([...roles, { project: next, role: "operator" }])}
        >
          {t("operators.addRole")}
        </Button>
      )}
      <p className="text-xs text-muted">{t("operators.rolesHint")}</p>
    </fieldset>
  );
}

/** Creates an operator, or changes the given one. */
function OperatorDialog({
  item,
  onSaved,
  onClose,
}: {
  item: Operator | null;
  onSaved: (operator: Operator) => void;
  onClose: () => void;
}) {
  const { t } = useTexts();
  const { connection, queryClient } = useServices();
  const project = useProject();
  const { values, field } = useFields({ name: item?.name ?? "", email: item?.email ?? "" });
  const [roles, setRoles] = useState<Role[]>(item?.roles ?? [{ project, role: "operator" }]);

  async function submit() {
    const body = { name: values.name.trim(), email: values.email.trim(), roles };
    const saved =
      item === null
        ? await connection.call("createOperator", null, { body })
        : await connection.call("updateOperator", null, { params: { id: item.id }, body, ifMatch: item.version });
    void queryClient.invalidateQueries({ queryKey: ["operators"] });
    // It may be the signed-in operator.
    void queryClient.invalidateQueries({ queryKey: ["session"] });
    onSaved(saved.item);
  }

  return (
    <FormDialog
      title={item === null ? t("operators.make") : t("operators.change", { name: item.name })}
      action={t(item === null ? "operators.make" : "ui.save")}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field label={t("operators.name")} maxLength={200} required autoComplete="off" {...field("name")} />
      <Field
        label={t("operators.email")}
        hint={t("operators.emailHint")}
        type="email"
        maxLength={254}
        required
        autoComplete="off"
        {...field("email")}
      />
      <RolesField roles={roles} onChange={setRoles} />
    </FormDialog>
  );
}

/** Actions for an operator. */
interface RowActions {
  change: (item: Operator) => void;
  makeLink: (item: Operator) => void;
  setDisabled: (item: Operator, isDisabled: boolean) => void;
  remove: (item: Operator) => void;
}

function OperatorRow({ item, actions }: { item: Operator; actions: RowActions }) {
  const { t } = useTexts();
  const { operator } = useSession();
  const { disabledAt, email, hasPassword, lastSeenAt, name, roles } = item;
  const isMe = item.id === operator.id;
  const isDisabled = disabledAt !== null;
  return (
    <div className="flex items-start gap-3">
      <Avatar name={name} />
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <span className="truncate text-sm font-medium" dir="auto">
            {isMe ? t("people.me", { name }) : name}
          </span>
          {isDisabled && <Badge tone="bad">{t("operators.disabled")}</Badge>}
          {!hasPassword && !isDisabled && <Badge tone="warn">{t("operators.noPassword")}</Badge>}
        </p>
        <p className="truncate text-xs text-muted">{email}</p>
        <ul className="mt-1 flex flex-wrap gap-1">
          {roles.length === 0 && <li className="text-xs text-muted">{t("operators.noRole")}</li>}
          {roles.map(({ project, role }) => (
            <li key={project} className="max-w-full">
              <Badge>
                {project === "*" ? t("adminKeys.all") : project}: {t(`role.${role}`)}
              </Badge>
            </li>
          ))}
        </ul>
      </div>
      <p className="shrink-0 pt-0.5 text-right text-xs text-muted max-sm:hidden">
        {lastSeenAt === null ? (
          t("operators.neverSeen")
        ) : (
          <>
            {t("operators.seen")} <Ago time={lastSeenAt} as="past" />
          </>
        )}
      </p>
      <IconButton icon={Pencil} label={t("operators.change", { name })} onClick={() => actions.change(item)} />
      <Menu trigger={<IconButton icon={EllipsisVertical} label={t("operators.more", { name })} />}>
        <MenuItem icon={Link2} isDisabled={isDisabled} onSelect={() => actions.makeLink(item)}>
          {t(hasPassword ? "operators.link" : "operators.invite")}
        </MenuItem>
        <MenuSeparator />
        <MenuItem
          icon={isDisabled ? UserCheck : Ban}
          isDisabled={isMe}
          onSelect={() => actions.setDisabled(item, !isDisabled)}
        >
          {t(isDisabled ? "operators.enable" : "operators.disable")}
        </MenuItem>
        <MenuItem icon={Trash2} isDanger isDisabled={isMe} onSelect={() => actions.remove(item)}>
          {t("operators.deleteNow")}
        </MenuItem>
      </Menu>
    </div>
  );
}

/** The dialog that is open. */
type Open =
  | { kind: "make" }
  | { kind: "change" | "link" | "delete"; item: Operator }
  | { kind: "show"; item: Operator; token: string; expiresAt: string }
  | null;

/** The actions of the list of operators, and the dialogs that they open. */
function useOperatorActions() {
  const { t } = useTexts();
  const { connection, queryClient, toasts } = useServices();
  const [open, setOpen] = useState<Open>(null);
  const { runAside } = useAction();
  const refresh = () => queryClient.invalidateQueries({ queryKey: ["operators"] });

  const makeLink = (item: Operator) =>
    runAside(async () => {
      const answer = await connection.call("createOperatorLink", null, { params: { id: item.id } });
      setOpen({ kind: "show", item, token: answer.item.token, expiresAt: answer.item.expiresAt });
    });

  const setDisabled = (item: Operator, isDisabled: boolean): Promise<void> =>
    runAside(async () => {
      const { id, name, version } = item;
      const body = { disabled: isDisabled };
      const answer = await connection.call("updateOperator", null, { params: { id }, body, ifMatch: version });
      await refresh();
      toasts.show({
        kind: "done",
        text: t(isDisabled ? "operators.isDisabled" : "operators.isEnabled", { name }),
        action: { label: t("ui.undo"), run: () => void setDisabled(answer.item, !isDisabled) },
      });
    });

  const remove = ({ id, name, version }: Operator) =>
    runAside(async () => {
      await connection.call("deleteOperator", null, { params: { id }, ifMatch: version });
      await refresh();
      setOpen(null);
      return t("operators.deleted", { name });
    });

  const rowActions: RowActions = {
    change: (item) => setOpen({ kind: "change", item }),
    // A link ends the sessions of an operator with a password, so it is confirmed first.
    makeLink: (item) => (item.hasPassword ? setOpen({ kind: "link", item }) : void makeLink(item)),
    setDisabled: (item, isDisabled) => void setDisabled(item, isDisabled),
    remove: (item) => setOpen({ kind: "delete", item }),
  };
  return { open, setOpen, makeLink, remove, rowActions };
}

/** The dialog that is open. */
function OperatorDialogs({
  open,
  setOpen,
  makeLink,
  remove,
}: Omit<ReturnType<typeof useOperatorActions>, "rowActions">) {
  const { dateTime, t } = useTexts();
  const { toasts } = useServices();
  const close = () => setOpen(null);
  if (open === null) return null;
  if (open.kind === "make" || open.kind === "change") {
    function onSaved(saved: Operator) {
      close();
      // A new operator can sign in after choosing a password.
      if (open?.kind === "make") void makeLink(saved);
      else toasts.show({ kind: "done", text: t("integrations.saved") });
    }
    return <OperatorDialog item={open.kind === "change" ? open.item : null} onSaved={onSaved} onClose={close} />;
  }
  const { name } = open.item;
  if (open.kind === "show") {
    return (
      <ShownOnceDialog
        title={t(open.item.hasPassword ? "operators.linkFor" : "operators.inviteFor", { name })}
        warning={t("operators.linkOnce", { name, time: dateTime(open.expiresAt) })}
        label={t("operators.linkLabel")}
        secret={`${location.origin}/link#${open.token}`}
        onClose={close}
      />
    );
  }
  const isLink = open.kind === "link";
  const { hasPassword } = open.item;
  return (
    <ConfirmDialog
      title={t(isLink ? (hasPassword ? "operators.linkFor" : "operators.inviteFor") : "operators.delete", { name })}
      action={t(isLink ? "operators.linkNow" : "operators.deleteNow")}
      onConfirm={() => (isLink ? makeLink(open.item) : remove(open.item))}
      onClose={close}
    >
      {t(isLink ? (hasPassword ? "operators.linkText" : "operators.inviteText") : "operators.deleteText")}
    </ConfirmDialog>
  );
}

/** The operators of all projects. */
export function OperatorsSection() {
  const { t } = useTexts();
  const { connection } = useServices();
  const [words, setWords] = useState("");
  const q = useDeferredValue(words.trim());
  const operators = useInfiniteQuery({ ...operatorPagesQuery(connection, q), placeholderData: keepPreviousData });
  const { rowActions, ...dialogs } = useOperatorActions();
  return (
    <>
      <ResourcePage
        query={operators}
        label={t("administration.operators")}
        head={
          <Field
            label={t("operators.find")}
            type="search"
            className="w-72 max-w-full"
            value={words}
            maxLength={200}
            onChange={setWords}
          />
        }
        create={{ id: "new-operator", title: t("operators.make"), run: () => dialogs.setOpen({ kind: "make" }) }}
        icon={Users}
        empty={{ title: t("operators.none"), text: t("operators.noneText") }}
      >
        {(item) => <OperatorRow item={item} actions={rowActions} />}
      </ResourcePage>
      <OperatorDialogs {...dialogs} />
    </>
  );
}
