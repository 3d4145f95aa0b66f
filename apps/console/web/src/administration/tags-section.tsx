import { useInfiniteQuery } from "@tanstack/react-query";
import { Combine, Pencil, Tag as TagIcon, Trash2 } from "lucide-react";
import { useState } from "react";
import type { Tag, TagColor } from "@svc/contracts";
import { tagPagesQuery } from "../api/tickets.ts";
import { FormDialog, useFields } from "../forms/form-dialog.tsx";
import { useAction } from "../forms/use-settings-form.ts";
import { useTexts } from "../i18n/texts.ts";
import { ResourcePage } from "../lists/resource-page.tsx";
import { useProject, useRights, useServices, useTags } from "../session/services.ts";
import { IconButton } from "../ui/button.tsx";
import { ConfirmDialog } from "../ui/dialog.tsx";
import { Field, SelectField, TextArea } from "../ui/field.tsx";
import { TagChip } from "../ui/badge.tsx";

/** Copied from TICKET_LIMITS and TAG_LIMITS of the contracts; the server checks them. */
const NAME_MAX_CHARS = 50;
const DESCRIPTION_MAX_CHARS = 500;
const COLORS = [
  "gray",
  "red",
  "orange",
  "yellow",
  "green",
  "teal",
  "blue",
  "purple",
  "pink",
] as const satisfies readonly TagColor[];

/** Returns a function that refetches all data with tags. */
function useRefresh() {
  const { queryClient } = useServices();
  return () => {
    for (const key of ["tags", "tickets", "ticket", "canned-replies"]) {
      void queryClient.invalidateQueries({ queryKey: [key] });
    }
  };
}

interface TagDialogProps {
  onDone: (text: string) => void;
  onClose: () => void;
}

/** Creates a tag, or changes the given one. */
function EditDialog({ item, onDone, onClose }: TagDialogProps & { item: Tag | null }) {
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const { values, field } = useFields({ name: item?.name ?? "", description: item?.description ?? "" });
  const [color, setColor] = useState<TagColor>(item?.color ?? "blue");
  const name = values.name.trim().replace(/^#/, "");
  async function submit() {
    const body = { name, color, description: values.description.trim() };
    if (item === null) await connection.call("createTag", project, { body });
    else await connection.call("updateTag", project, { params: { id: item.id }, body, ifMatch: item.version });
    onDone(t("tags.saved", { name }));
  }
  return (
    <FormDialog
      title={item === null ? t("tags.make") : t("tags.change", { name: item.name })}
      width="small"
      action={t("ui.save")}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field
        label={t("tags.name")}
        hint={item === null ? t("tags.nameHint") : t("tags.renameHint")}
        maxLength={NAME_MAX_CHARS}
        required
        {...field("name")}
      />
      <div className="flex items-end gap-3">
        <SelectField
          label={t("tags.color")}
          value={color}
          options={COLORS.map((value) => ({ value, label: t(`tags.color.${value}`) }))}
          onChange={setColor}
          className="flex-1"
        />
        <p className="flex h-8 min-w-0 flex-1 items-center">
          <TagChip name={name === "" ? t("tags.example") : name} color={color} />
        </p>
      </div>
      <TextArea label={t("tags.description")} rows={2} maxLength={DESCRIPTION_MAX_CHARS} {...field("description")} />
    </FormDialog>
  );
}

/** Asks which tag replaces this one. */
function MergeDialog({ item, onDone, onClose }: TagDialogProps & { item: Tag }) {
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const others = useTags().filter(({ id }) => id !== item.id);
  const [chosen, setInto] = useState("");
  const intoId = chosen === "" ? (others[0]?.id ?? "") : chosen;
  async function submit() {
    const merged = await connection.call("mergeTag", project, { params: { id: intoId }, body: { tagId: item.id } });
    onDone(t("tags.merged", { name: item.name, into: merged.item.name }));
  }
  return (
    <FormDialog
      title={t("tags.merge", { name: item.name })}
      width="small"
      action={t("tags.mergeNow")}
      variant="danger"
      isDisabled={others.length === 0}
      onSubmit={submit}
      onClose={onClose}
    >
      <SelectField
        label={t("tags.mergeInto")}
        hint={t("tags.mergeHint", { name: item.name })}
        value={intoId}
        options={others.map(({ id, name }) => ({ value: id, label: name }))}
        onChange={setInto}
      />
    </FormDialog>
  );
}

/** Asks before a tag is deleted. */
function DeleteDialog({ item, onDone, onClose }: TagDialogProps & { item: Tag }) {
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const { runAside } = useAction();
  const confirm = () =>
    runAside(async () => {
      await connection.call("deleteTag", project, { params: { id: item.id }, ifMatch: item.version });
      onDone(t("tags.deleted", { name: item.name }));
    });
  return (
    <ConfirmDialog
      title={t("tags.delete", { name: item.name })}
      action={t("tags.deleteNow")}
      onConfirm={confirm}
      onClose={onClose}
    >
      {t("tags.deleteText")}
    </ConfirmDialog>
  );
}

type Open = { kind: "edit"; item: Tag | null } | { kind: "merge" | "delete"; item: Tag };

function TagRow({ item, onOpen }: { item: Tag; onOpen: ((open: Open) => void) | null }) {
  const { t } = useTexts();
  const { description, name, color } = item;
  return (
    <div className="flex items-center gap-3">
      <span className="w-44 shrink-0 max-sm:w-28">
        <TagChip name={name} color={color} />
      </span>
      <span dir="auto" className="min-w-0 flex-1 text-sm wrap-anywhere text-muted">
        {description}
      </span>
      {onOpen !== null && (
        <>
          <IconButton icon={Pencil} label={t("tags.change", { name })} onClick={() => onOpen({ kind: "edit", item })} />
          <IconButton
            icon={Combine}
            label={t("tags.merge", { name })}
            onClick={() => onOpen({ kind: "merge", item })}
          />
          <IconButton
            icon={Trash2}
            label={t("tags.delete", { name })}
            onClick={() => onOpen({ kind: "delete", item })}
          />
        </>
      )}
    </div>
  );
}

/** The managed tags of the project. */
export function TagsSection() {
  const { t } = useTexts();
  const { connection, toasts } = useServices();
  const project = useProject();
  const mayWrite = useRights()("tickets:write");
  const tags = useInfiniteQuery(tagPagesQuery(connection, project));
  const refresh = useRefresh();
  const [open, setOpen] = useState<Open | null>(null);
  const dialog = {
    onClose: () => setOpen(null),
    onDone(text: string) {
      setOpen(null);
      refresh();
      toasts.show({ kind: "done", text });
    },
  };
  return (
    <>
      <ResourcePage
        query={tags}
        label={t("administration.tags")}
        head={t("tags.about", { project })}
        create={
          mayWrite
            ? { id: "new-tag", title: t("tags.make"), run: () => setOpen({ kind: "edit", item: null }) }
            : undefined
        }
        icon={TagIcon}
        empty={{ title: t("tags.none"), text: t("tags.noneText") }}
      >
        {(item) => <TagRow item={item} onOpen={mayWrite ? setOpen : null} />}
      </ResourcePage>
      {open?.kind === "edit" && <EditDialog item={open.item} {...dialog} />}
      {open?.kind === "merge" && <MergeDialog item={open.item} {...dialog} />}
      {open?.kind === "delete" && <DeleteDialog item={open.item} {...dialog} />}
    </>
  );
}
