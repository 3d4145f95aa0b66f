import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { MessageSquareText, Pencil, Plus, Trash2 } from "lucide-react";
import { useDeferredValue, useState } from "react";
import type { CannedReply } from "@svc/contracts";
import { cannedPagesQuery } from "../api/administration.ts";
import { useCommands } from "../app/command-registry.ts";
import { useServices } from "../app/services.ts";
import { useProject, useRights } from "../app/use-session.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { EmptyState } from "../ui/empty-state.tsx";
import { Field } from "../ui/field.tsx";
import { IconButton } from "../ui/icon-button.tsx";
import { CannedForm } from "./canned-form.tsx";
import { PagedList } from "./paged-list.tsx";
import { useAction } from "./use-action.ts";

function CannedRow({
  item: { folder, name, tags, text },
  actions,
}: {
  item: CannedReply;
  /** Null for who may only look. */
  actions: { change: () => void; remove: () => void } | null;
}) {
  const { t } = useTexts();
  return (
    <div className="flex items-start gap-3">
      <MessageSquareText aria-hidden className="mt-0.5 size-4 shrink-0 text-faint max-sm:hidden" />
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <span className="truncate text-sm font-medium" dir="auto">
            {name}
          </span>
          {folder !== null && <Badge>{folder}</Badge>}
          {tags.map((tag) => (
            <Badge key={tag} tone="accent">
              #{tag}
            </Badge>
          ))}
        </p>
        <p className="line-clamp-2 text-xs wrap-anywhere text-muted" dir="auto">
          {text}
        </p>
      </div>
      {actions !== null && (
        <>
          <IconButton icon={Pencil} label={t("canned.change", { name })} onClick={actions.change} />
          <IconButton icon={Trash2} label={t("canned.delete", { name })} onClick={actions.remove} />
        </>
      )}
    </div>
  );
}

/** The canned replies of the project, for who answers its customers. */
export function CannedSection() {
  const { t } = useTexts();
  const { connection, queryClient, toasts } = useServices();
  const project = useProject();
  const mayWrite = useRights()("tickets:write");
  const [words, setWords] = useState("");
  const q = useDeferredValue(words.trim());
  const [doing, setDoing] = useState<{ item: CannedReply | null } | null>(null);
  const { runAside } = useAction();
  const replies = useInfiniteQuery({ ...cannedPagesQuery(connection, project, q), placeholderData: keepPreviousData });
  const known = replies.data?.pages.flatMap(({ items }) => items) ?? [];
  const folders = [...new Set(known.flatMap(({ folder }) => (folder === null ? [] : [folder])))].sort();
  const close = () => setDoing(null);
  const make = () => setDoing({ item: null });
  const refresh = () => queryClient.invalidateQueries({ queryKey: ["canned-replies", project] });
  useCommands(mayWrite ? [{ id: "new-canned", title: t("canned.make"), group: "page", keys: "c", run: make }] : []);

  const putBack = ({ folder, name, tags, text }: CannedReply) =>
    runAside(async () => {
      const body = { name, text, tags, ...(folder === null ? {} : { folder }) };
      await connection.call("createCannedReply", project, { body });
      await refresh();
    });

  const remove = (item: CannedReply) =>
    runAside(async () => {
      const { id, name, version } = item;
      await connection.call("deleteCannedReply", project, { params: { id }, ifMatch: version });
      await refresh();
      toasts.show({
        kind: "done",
        text: t("canned.deleted", { name }),
        action: { label: t("ui.undo"), run: () => void putBack(item) },
      });
    });

  function onSaved({ name }: CannedReply) {
    close();
    void refresh();
    toasts.show({ kind: "done", text: t("canned.saved", { name }) });
  }

  const button = mayWrite && (
    <Button look="primary" onClick={make} keys="c">
      <Plus aria-hidden className="size-4" />
      {t("canned.make")}
    </Button>
  );
  return (
    <>
      <div className="mb-4 flex flex-wrap items-center justify-between gap-3">
        <p className="max-w-2xl text-sm text-muted">{t("canned.about", { project })}</p>
        {button}
      </div>
      <Field
        label={t("canned.find")}
        type="search"
        value={words}
        onChange={({ currentTarget }) => setWords(currentTarget.value)}
        className="mb-4 max-w-sm"
      />
      <PagedList
        query={replies}
        label={t("administration.canned")}
        empty={
          <EmptyState
            icon={MessageSquareText}
            title={t(q === "" ? "canned.none" : "canned.nothingFits")}
            text={t(q === "" ? "canned.noneText" : "canned.nothingFitsText")}
          >
            {q === "" && button}
          </EmptyState>
        }
      >
        {(item) => (
          <CannedRow
            item={item}
            actions={mayWrite ? { change: () => setDoing({ item }), remove: () => void remove(item) } : null}
          />
        )}
      </PagedList>
      {doing !== null && <CannedForm item={doing.item} folders={folders} onSaved={onSaved} onClose={close} />}
    </>
  );
}
