import { useQuery, useInfiniteQuery } from "@tanstack/react-query";
import { ServiceError } from "@svc/client";
import { useState } from "react";
import type { ProjectItem } from "@svc/contracts";
import { useNavigate } from "@tanstack/react-router";
import { FolderOpen, Pencil, Plus, Trash2 } from "lucide-react";
import { projectPagesQuery } from "../api/administration.ts";
import { FormDialog } from "../forms/form-dialog.tsx";
import { useTexts } from "../i18n/texts.ts";
import { PagedList } from "../lists/paged-list.tsx";
import { useServices, useCommands, useProject } from "../session/services.ts";
import { Ago } from "../ui/ago.tsx";
import { Badge } from "../ui/badge.tsx";
import { Button, IconButton } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { ErrorNotice, Notice, Skeleton, EmptyState } from "../ui/notice.tsx";
import { ProjectForm } from "./project-form.tsx";

/** Where the server begins to say how a program agrees, which nobody here needs. */
const HOW_TO_AGREE = /\s*To agree, send .*$/s;

/** Says what would be deleted with a project, and deletes it once its name is typed. */
function DeleteProjectDialog({
  item: { id, name, version },
  onDeleted,
  onClose,
}: {
  item: ProjectItem;
  onDeleted: () => void;
  onClose: () => void;
}) {
  const { t } = useTexts();
  const { connection } = useServices();
  const [typed, setTyped] = useState("");
  // Asked with an empty confirmation, which no project has as its name, the server refuses and counts what it holds.
  const held = useQuery({
    queryKey: ["project-held", id],
    gcTime: 0,
    staleTime: Infinity,
    retry: false,
    queryFn: async () => {
      try {
        await connection.call("deleteProject", null, { params: { id }, body: { confirm: "" }, ifMatch: version });
      } catch (cause) {
        const isAsked = cause instanceof ServiceError && cause.errors.some(({ code }) => code === "not_confirmed");
        if (isAsked) return cause.detail.replace(HOW_TO_AGREE, "");
        throw cause;
      }
      return "";
    },
  });

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
      look="danger"
      isDisabled={typed !== name || !held.isSuccess}
      onSubmit={submit}
      onClose={onClose}
    >
      {held.isPending && <Skeleton className="h-12 w-full rounded-lg" />}
      {held.isError && <ErrorNotice error={held.error} />}
      {held.isSuccess && <Notice look="bad">{held.data}</Notice>}
      <p className="text-sm">{t("projects.deleteText")}</p>
      <Field
        label={t("projects.typeName", { name })}
        value={typed}
        autoComplete="off"
        spellCheck={false}
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
      />
    </FormDialog>
  );
}

function ProjectRow({
  item: { createdAt, handoffText, name, retentionDays },
  onChange,
  onDelete,
}: {
  item: ProjectItem;
  onChange: () => void;
  onDelete: () => void;
}) {
  const { t } = useTexts();
  const isCurrent = useProject() === name;
  return (
    <div className="flex items-start gap-3">
      <FolderOpen aria-hidden className="mt-0.5 size-4 shrink-0 text-faint max-sm:hidden" />
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <span className="truncate text-sm font-medium">{name}</span>
          {isCurrent && <Badge tone="accent">{t("projects.current")}</Badge>}
        </p>
        <p className="truncate text-xs text-muted" dir="auto" title={handoffText}>
          {handoffText === "" ? t("projects.noHandoff") : handoffText}
        </p>
        <p className="text-xs text-muted">
          {retentionDays === null ? t("projects.forEver") : t("projects.days", { n: retentionDays })} ·{" "}
          {t("projects.madeAt")} <Ago time={createdAt} as="past" />
        </p>
      </div>
      <IconButton icon={Pencil} label={t("projects.change", { name })} onClick={onChange} />
      <IconButton icon={Trash2} label={t("projects.delete", { name })} onClick={onDelete} />
    </div>
  );
}

/** What is being done with the projects. */
type Doing = { kind: "make" } | { kind: "change" | "delete"; item: ProjectItem } | null;

/** All projects and their settings. */
export function ProjectsSection() {
  const { t } = useTexts();
  const { connection, queryClient, toasts } = useServices();
  const current = useProject();
  const navigate = useNavigate();
  const [doing, setDoing] = useState<Doing>(null);
  const projects = useInfiniteQuery(projectPagesQuery(connection));
  const close = () => setDoing(null);
  const make = () => setDoing({ kind: "make" });
  const goTo = (project: string) =>
    navigate({ to: "/$project/administration/$section", params: { project, section: "projects" } });
  useCommands([{ id: "new-project", title: t("projects.make"), group: "page", keys: "c", run: make }]);

  async function onSaved(before: ProjectItem | null, { name }: ProjectItem) {
    close();
    toasts.show({ kind: "done", text: before === null ? t("projects.made", { name }) : t("integrations.saved") });
    if (before !== null && before.name === current && name !== current) await goTo(name);
  }

  async function onDeleted({ name }: ProjectItem) {
    close();
    toasts.show({ kind: "done", text: t("projects.deleted", { name }) });
    // What is gone is no place to stay at.
    if (name === current) await goTo("default");
    await queryClient.invalidateQueries({ queryKey: ["session"] });
    await queryClient.invalidateQueries({ queryKey: ["projects"] });
  }

  const button = (
    <Button look="primary" onClick={make} keys="c">
      <Plus aria-hidden className="size-4" />
      {t("projects.make")}
    </Button>
  );
  return (
    <>
      <div className="mb-4 flex flex-wrap items-center justify-between gap-3">
        <p className="max-w-2xl text-sm text-muted">{t("projects.text")}</p>
        {button}
      </div>
      <PagedList
        query={projects}
        label={t("administration.projects")}
        empty={
          <EmptyState icon={FolderOpen} title={t("projects.none")} text={t("projects.text")}>
            {button}
          </EmptyState>
        }
      >
        {(item) => (
          <ProjectRow
            item={item}
            onChange={() => setDoing({ kind: "change", item })}
            onDelete={() => setDoing({ kind: "delete", item })}
          />
        )}
      </PagedList>
      {(doing?.kind === "make" || doing?.kind === "change") && (
        <ProjectForm
          item={doing.kind === "change" ? doing.item : null}
          onSaved={(saved) => void onSaved(doing.kind === "change" ? doing.item : null, saved)}
          onClose={close}
        />
      )}
      {doing?.kind === "delete" && (
        <DeleteProjectDialog item={doing.item} onDeleted={() => void onDeleted(doing.item)} onClose={close} />
      )}
    </>
  );
}
