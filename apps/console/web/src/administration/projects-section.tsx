import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import type { ProjectItem } from "@svc/contracts";
import { useNavigate } from "@tanstack/react-router";
import { FolderOpen, Pencil, Trash2 } from "lucide-react";
import { projectPagesQuery } from "../api/administration.ts";
import { FormDialog } from "../forms/form-dialog.tsx";
import { useTexts } from "../i18n/texts.ts";
import type { TextKey } from "../i18n/texts.ts";
import { ResourcePage } from "../lists/resource-page.tsx";
import { useProject, useServices } from "../session/services.ts";
import { Ago, Badge } from "../ui/badge.tsx";
import { IconButton } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { ErrorNotice, Notice, Skeleton } from "../ui/notice.tsx";
import { projectContentsQuery } from "./project-contents.ts";
import { DEFAULT_PROJECT, ProjectDialog } from "./project-dialog.tsx";
import { HoursButton } from "./project-fields.tsx";

/** Shows what would be deleted with a project, and deletes it after its name was typed. */
function DeleteProjectDialog({
  item: { id, name, version },
  onDeleted,
  onClose,
}: {
  item: ProjectItem;
  onDeleted: () => void;
  onClose: () => void;
}) {
  const { number, t } = useTexts();
  const { connection } = useServices();
  const [typed, setTyped] = useState("");
  const held = useQuery(projectContentsQuery(connection, { id, version }));

  const describe = (contents: { label: TextKey; count: number }[]) =>
    contents.length === 0
      ? t("projects.empty")
      : contents.map(({ label, count }) => `${t(label)}: ${number(count)}`).join(" · ");

  async function submit() {
    if (typed !== name) return;
    await connection.call("deleteProject", null, { params: { id }, body: { confirm: typed }, ifMatch: version });
    onDeleted();
  }

  return (
    <FormDialog
      title={t("projects.delete", { name })}
      width="small"
      action={t("projects.deleteNow")}
      variant="danger"
      isDisabled={typed !== name || !held.isSuccess}
      onSubmit={submit}
      onClose={onClose}
    >
      {held.isPending && <Skeleton className="h-12 w-full rounded-lg" />}
      {held.isError && <ErrorNotice error={held.error} />}
      {held.isSuccess && (
        <Notice variant="bad">{typeof held.data === "string" ? held.data : describe(held.data)}</Notice>
      )}
      <p className="text-sm">{t("projects.deleteText")}</p>
      <Field
        label={t("projects.typeName", { name })}
        value={typed}
        autoComplete="off"
        spellCheck={false}
        onChange={setTyped}
      />
    </FormDialog>
  );
}

function ProjectRow({
  item: { businessHours, createdAt, handoffText, name, retentionDays },
  onOpen,
}: {
  item: ProjectItem;
  onOpen: (kind: "change" | "hours" | "delete") => void;
}) {
  const { t } = useTexts();
  const isCurrent = useProject() === name;
  const nameId = useId();
  return (
    <div className="flex items-start gap-3">
      <FolderOpen aria-hidden className="mt-0.5 size-4 shrink-0 text-faint max-sm:hidden" />
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <span id={nameId} className="truncate text-sm font-medium">
            {name}
          </span>
          {isCurrent && <Badge tone="accent">{t("projects.current")}</Badge>}
        </p>
        <p className="truncate text-xs text-muted" dir="auto" title={handoffText}>
          {handoffText === "" ? t("projects.noHandoff") : handoffText}
        </p>
        <p className="text-xs text-muted">
          {retentionDays === null ? t("projects.forEver") : t("projects.days", { n: retentionDays })} ·{" "}
          {t("projects.madeAt")} <Ago time={createdAt} as="past" /> ·{" "}
          <HoursButton hours={businessHours} describedBy={nameId} onClick={() => onOpen("hours")} />
        </p>
      </div>
      <IconButton icon={Pencil} label={t("projects.change", { name })} onClick={() => onOpen("change")} />
      {name !== DEFAULT_PROJECT && (
        <IconButton icon={Trash2} label={t("projects.delete", { name })} onClick={() => onOpen("delete")} />
      )}
    </div>
  );
}

/** The dialog that is open. */
type Open = { kind: "make" } | { kind: "change" | "hours" | "delete"; item: ProjectItem } | null;

/** All projects and their settings. */
export function ProjectsSection() {
  const { t } = useTexts();
  const { connection, queryClient, toasts } = useServices();
  const current = useProject();
  const navigate = useNavigate();
  const [open, setOpen] = useState<Open>(null);
  const projects = useInfiniteQuery(projectPagesQuery(connection));
  const close = () => setOpen(null);
  const goTo = (project: string) =>
    navigate({ to: "/$project/administration/$section", params: { project, section: "projects" } });

  async function onSaved(before: ProjectItem | null, { name }: ProjectItem) {
    close();
    toasts.show({ kind: "done", text: before === null ? t("projects.made", { name }) : t("integrations.saved") });
    if (before !== null && before.name === current && name !== current) await goTo(name);
  }

  async function onDeleted({ name }: ProjectItem) {
    close();
    toasts.show({ kind: "done", text: t("projects.deleted", { name }) });
    // This page belongs to the deleted project.
    if (name === current) await goTo("default");
    await queryClient.invalidateQueries({ queryKey: ["session"] });
    await queryClient.invalidateQueries({ queryKey: ["projects"] });
  }

  return (
    <>
      <ResourcePage
        query={projects}
        label={t("administration.projects")}
        head={t("projects.text")}
        create={{ id: "new-project", title: t("projects.make"), run: () => setOpen({ kind: "make" }) }}
        icon={FolderOpen}
        empty={{ title: t("projects.none"), text: t("projects.text") }}
      >
        {(item) => <ProjectRow item={item} onOpen={(kind) => setOpen({ kind, item })} />}
      </ResourcePage>
      {open?.kind === "delete" && (
        <DeleteProjectDialog item={open.item} onDeleted={() => void onDeleted(open.item)} onClose={close} />
      )}
      {open !== null && open.kind !== "delete" && (
        <ProjectDialog
          item={open.kind === "make" ? null : open.item}
          startsAtHours={open.kind === "hours"}
          onSaved={(saved) => void onSaved(open.kind === "make" ? null : open.item, saved)}
          onClose={close}
        />
      )}
    </>
  );
}
