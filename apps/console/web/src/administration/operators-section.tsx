import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { Ban, EllipsisVertical, Link2, Pencil, Plus, Trash2, UserCheck, Users } from "lucide-react";
import { useDeferredValue, useState } from "react";
import type { Operator } from "@svc/contracts";
import { operatorPagesQuery } from "../api/administration.ts";
import { useAction } from "../forms/use-action.ts";
import { useTexts } from "../i18n/texts.ts";
import { PagedList, ShownOnceDialog } from "../lists/paged-list.tsx";
import { useServices, useCommands, useSession } from "../session/services.ts";
import { Ago } from "../ui/ago.tsx";
import { Avatar, Badge } from "../ui/badge.tsx";
import { Button, IconButton } from "../ui/button.tsx";
import { ConfirmDialog } from "../ui/dialog.tsx";
import { Field } from "../ui/field.tsx";
import { Menu, MenuItem, MenuLine } from "../ui/menu.tsx";
import { EmptyState } from "../ui/notice.tsx";
import { OperatorForm } from "./operator-form.tsx";

/** What can be done with an operator. */
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
          {t("operators.link")}
        </MenuItem>
        <MenuLine />
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

/** What is being done with the operators. */
type Doing =
  | { kind: "make" }
  | { kind: "change" | "link" | "delete"; item: Operator }
  | { kind: "show"; item: Operator; token: string; expiresAt: string }
  | null;

/** Everybody who works with the console. */
export function OperatorsSection() {
  const { dateTime, t } = useTexts();
  const { connection, queryClient, toasts } = useServices();
  const [words, setWords] = useState("");
  const q = useDeferredValue(words.trim());
  const [doing, setDoing] = useState<Doing>(null);
  const { isBusy, runAside } = useAction();
  const operators = useInfiniteQuery({ ...operatorPagesQuery(connection, q), placeholderData: keepPreviousData });
  const close = () => setDoing(null);
  const make = () => setDoing({ kind: "make" });
  const refresh = () => queryClient.invalidateQueries({ queryKey: ["operators"] });
  useCommands([{ id: "new-operator", title: t("operators.make"), group: "page", keys: "c", run: make }]);

  const makeLink = (item: Operator) =>
    runAside(async () => {
      const answer = await connection.call("createOperatorLink", null, { params: { id: item.id } });
      setDoing({ kind: "show", item, token: answer.item.token, expiresAt: answer.item.expiresAt });
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
      toasts.show({ kind: "done", text: t("operators.deleted", { name }) });
      close();
    });

  const actions: RowActions = {
    change: (item) => setDoing({ kind: "change", item }),
    // Whoever has a password keeps it until the link is used; but their sessions end then, so it is asked first.
    makeLink: (item) => (item.hasPassword ? setDoing({ kind: "link", item }) : void makeLink(item)),
    setDisabled: (item, isDisabled) => void setDisabled(item, isDisabled),
    remove: (item) => setDoing({ kind: "delete", item }),
  };
  const button = (
    <Button look="primary" onClick={make} keys="c">
      <Plus aria-hidden className="size-4" />
      {t("operators.make")}
    </Button>
  );
  return (
    <>
      <div className="mb-4 flex flex-wrap items-end justify-between gap-3">
        <Field
          label={t("operators.find")}
          type="search"
          className="w-72 max-w-full"
          value={words}
          maxLength={200}
          onChange={({ currentTarget }) => setWords(currentTarget.value)}
        />
        {button}
      </div>
      <PagedList
        query={operators}
        label={t("administration.operators")}
        empty={
          <EmptyState icon={Users} title={t("operators.none")} text={t("operators.noneText")}>
            {button}
          </EmptyState>
        }
      >
        {(item) => <OperatorRow item={item} actions={actions} />}
      </PagedList>
      {(doing?.kind === "make" || doing?.kind === "change") && (
        <OperatorForm
          item={doing.kind === "change" ? doing.item : null}
          onSaved={(saved) => {
            close();
            // Somebody new can sign in once they have a password.
            if (doing.kind === "make") void makeLink(saved);
            else toasts.show({ kind: "done", text: t("integrations.saved") });
          }}
          onClose={close}
        />
      )}
      {doing?.kind === "link" && (
        <ConfirmDialog
          title={t("operators.linkFor", { name: doing.item.name })}
          action={t("operators.linkNow")}
          isBusy={isBusy}
          onConfirm={() => void makeLink(doing.item)}
          onClose={close}
        >
          {t("operators.linkText")}
        </ConfirmDialog>
      )}
      {doing?.kind === "show" && (
        <ShownOnceDialog
          title={t("operators.linkFor", { name: doing.item.name })}
          warning={t("operators.linkOnce", { name: doing.item.name, time: dateTime(doing.expiresAt) })}
          label={t("operators.linkLabel")}
          secret={`${location.origin}/link#${doing.token}`}
          onClose={close}
        />
      )}
      {doing?.kind === "delete" && (
        <ConfirmDialog
          title={t("operators.delete", { name: doing.item.name })}
          action={t("operators.deleteNow")}
          isBusy={isBusy}
          onConfirm={() => void remove(doing.item)}
          onClose={close}
        >
          {t("operators.deleteText")}
        </ConfirmDialog>
      )}
    </>
  );
}
