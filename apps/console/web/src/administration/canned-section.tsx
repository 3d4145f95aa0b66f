import { ServiceError } from "@svc/client";
import { useDeferredValue, useId, useRef, useState } from "react";
import type { CannedReply, CannedReplyVariable } from "@svc/contracts";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { MessageSquareText, Pencil, Trash2, Zap } from "lucide-react";
import { cannedPagesQuery } from "../api/administration.ts";
import { definedParams } from "../api/connection.ts";
import { FormDialog, useFields } from "../forms/form-dialog.tsx";
import { useAction } from "../forms/use-settings-form.ts";
import { useTexts } from "../i18n/texts.ts";
import { ResourcePage, itemsOf } from "../lists/resource-page.tsx";
import { useProject, useRights, useServices, useSession } from "../session/services.ts";
import { Badge } from "../ui/badge.tsx";
import { Button, IconButton } from "../ui/button.tsx";
import { Field, TextArea } from "../ui/field.tsx";
import { Markdown } from "../ui/markdown.tsx";
import { ActionChips, hasActions, readTags } from "../ticket/reply-actions.tsx";
import { ActionFields, readActions, valuesOfActions } from "./canned-actions.tsx";
import { fillExample } from "./fill-example.ts";

/** Copied from CANNED_REPLY_LIMITS of the contracts; the server checks them. */
const NAME_MAX_CHARS = 200;
const TEXT_MAX_CHARS = 50_000;

/** An example of each variable; the page fills in those that are empty here. */
const EXAMPLES = {
  "customer.name": "Ada Lovelace",
  "customer.userId": "ada@example.com",
  "customer.chatId": "order-42",
  "ticket.id": "01890a5d-ac96-774b-bcce-b302099a8057",
  "ticket.subject": "",
  "ticket.channel": "widget",
  "ticket.language": "en",
  "agent.name": "support",
  "project.name": "",
  "operator.name": "",
} as const satisfies Record<CannedReplyVariable, string>;
const VARIABLES = Object.keys(EXAMPLES) as CannedReplyVariable[];

const isSame = (one: object, other: object) => JSON.stringify(one) === JSON.stringify(other);

/** Creates a canned reply, or changes the given one. `isOvertaken` is true after another operator has changed it. */
function useCannedForm(item: CannedReply | null, onSaved: (saved: CannedReply) => void) {
  const { connection } = useServices();
  const project = useProject();
  const before = valuesOfActions(item?.actions ?? {});
  const { values, field } = useFields({
    name: item?.name ?? "",
    folder: item?.folder ?? "",
    tags: item?.tags.join(", ") ?? "",
    text: item?.text ?? "",
    ...before,
  });
  const [version, setVersion] = useState(item?.version ?? 0);
  const [isOvertaken, setOvertaken] = useState(false);
  const { text } = values;
  const name = values.name.trim();
  const folder = values.folder.trim() === "" ? null : values.folder.trim();

  /**
   * Updates only the fields changed here. Returns null if another operator has changed the reply meanwhile, after
   * reporting that: the next attempt applies to the current reply.
   */
  async function change(before: CannedReply): Promise<CannedReply | null> {
    const body = {
      ...(name === before.name ? {} : { name }),
      ...(text === before.text ? {} : { text }),
      ...(folder === before.folder ? {} : { folder }),
      ...(values.tags === before.tags.join(", ") ? {} : { tags: readTags(values.tags) }),
      ...(isSame(readActions(values), readActions(valuesOfActions(before.actions)))
        ? {}
        : { actions: readActions(values) }),
    };
    const params = { id: before.id };
    try {
      return (await connection.call("updateCannedReply", project, { params, body, ifMatch: version })).item;
    } catch (cause) {
      if (!(cause instanceof ServiceError) || cause.code !== "version_conflict") throw cause;
      const present = await connection.call("getCannedReply", project, { params });
      setVersion(present.item.version);
      setOvertaken(true);
      return null;
    }
  }

  async function create(): Promise<CannedReply> {
    const body = {
      name,
      text,
      tags: readTags(values.tags),
      actions: readActions(values),
      ...definedParams({ folder }),
    };
    return (await connection.call("createCannedReply", project, { body })).item;
  }

  async function submit() {
    const saved = item === null ? await create() : await change(item);
    if (saved !== null) onSaved(saved);
  }
  return { values, field, isOvertaken, submit };
}

/** The text of a canned reply, with buttons that insert variables. */
function CannedText({
  unknown,
  value,
  onChange,
}: {
  /** Names in the text that are not variables. */
  unknown: readonly string[];
  value: string;
  onChange: (text: string) => void;
}) {
  const { t } = useTexts();
  const area = useRef<HTMLTextAreaElement>(null);
  function insert(variable: CannedReplyVariable) {
    const field = area.current;
    if (field === null) return;
    field.setRangeText(`{{${variable}}}`, field.selectionStart, field.selectionEnd, "end");
    // As if it was typed, so that the dialog asks before it is discarded.
    field.dispatchEvent(new InputEvent("input", { bubbles: true }));
    field.focus();
  }
  const names = unknown.map((name) => `{{${name}}}`).join(", ");
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <TextArea
        ref={area}
        label={t("canned.text")}
        pointer="/text"
        hint={t("canned.textHint")}
        error={unknown.length === 0 ? undefined : t("canned.unknown", { names })}
        rows={10}
        maxLength={TEXT_MAX_CHARS}
        required
        value={value}
        onChange={onChange}
      />
      <div role="group" aria-label={t("canned.variables")} className="flex flex-wrap gap-1">
        {VARIABLES.map((variable) => (
          <Button
            key={variable}
            size="small"
            title={t(`canned.${variable}`)}
            aria-label={t("canned.insert", { name: variable, what: t(`canned.${variable}`) })}
            onClick={() => insert(variable)}
          >
            <code className="font-mono">{variable}</code>
          </Button>
        ))}
      </div>
    </div>
  );
}

/** A canned reply with examples of its variables. */
function CannedPreview({ text }: { text: string }) {
  const { t } = useTexts();
  return (
    <section aria-label={t("canned.preview")} className="min-w-0">
      <h3 className="mb-1 text-sm font-medium">{t("canned.preview")}</h3>
      <div
        dir="auto"
        className="max-h-80 min-h-24 overflow-y-auto rounded-md border border-line bg-sunken px-3 py-2 text-sm wrap-anywhere"
      >
        {text === "" ? <p className="text-muted">{t("canned.previewEmpty")}</p> : <Markdown text={text} />}
      </div>
      <p className="mt-1 text-xs text-muted">{t("canned.previewHint")}</p>
    </section>
  );
}

/** Creates a canned reply, or changes the given one, beside a preview. */
function CannedDialog({
  item,
  folders,
  onSaved,
  onClose,
}: {
  item: CannedReply | null;
  /** Names of existing folders. */
  folders: readonly string[];
  onSaved: (saved: CannedReply) => void;
  onClose: () => void;
}) {
  const { t } = useTexts();
  const { operator } = useSession();
  const project = useProject();
  const foldersId = useId();
  const { values, field, isOvertaken, submit } = useCannedForm(item, onSaved);
  const preview = fillExample(values.text, {
    ...EXAMPLES,
    "ticket.subject": t("canned.exampleSubject"),
    "project.name": project,
    "operator.name": operator.name,
  });
  return (
    <FormDialog
      title={item === null ? t("canned.make") : t("canned.change", { name: item.name })}
      width="wide"
      action={t("ui.save")}
      isDisabled={preview.unknown.length > 0}
      error={isOvertaken ? t("canned.overtaken") : null}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field
        label={t("canned.name")}
        hint={t("canned.nameHint")}
        maxLength={NAME_MAX_CHARS}
        required
        {...field("name")}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label={t("canned.folder")} maxLength={NAME_MAX_CHARS} list={foldersId} {...field("folder")} />
        <datalist id={foldersId}>
          {folders.map((known) => (
            <option key={known} value={known} />
          ))}
        </datalist>
        <Field label={t("canned.tags")} hint={t("canned.tagsHint")} {...field("tags")} />
      </div>
      <div className="grid gap-4 md:grid-cols-2">
        <CannedText unknown={preview.unknown} {...field("text")} />
        <CannedPreview text={values.text.trim() === "" ? "" : preview.text} />
      </div>
      <ActionFields values={values} field={field} />
    </FormDialog>
  );
}

function CannedRow({
  item: { actions: macro, folder, name, tags, text },
  actions,
}: {
  item: CannedReply;
  /** Null if the operator may only read. */
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
          {hasActions(macro) && (
            <>
              <Zap role="img" aria-label={t("macro.title")} className="size-3.5 text-muted" />
              <ActionChips actions={macro} />
            </>
          )}
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

/** Returns a function that deletes a canned reply, and offers to undo it. */
function useRemoveCanned() {
  const { t } = useTexts();
  const { connection, queryClient, toasts } = useServices();
  const project = useProject();
  const { runAside } = useAction();
  const refresh = () => queryClient.invalidateQueries({ queryKey: ["canned-replies", project] });
  const restore = ({ actions, folder, name, tags, text }: CannedReply) =>
    runAside(async () => {
      const body = { name, text, tags, actions, ...definedParams({ folder }) };
      await connection.call("createCannedReply", project, { body });
      await refresh();
    });

  const remove = (item: CannedReply) =>
    runAside(async () => {
      const { id, name, version } = item;
      await connection.call("deleteCannedReply", project, { params: { id }, ifMatch: version });
      await refresh();
      const action = { label: t("ui.undo"), run: () => void restore(item) };
      toasts.show({ kind: "done", text: t("canned.deleted", { name }), action });
    });
  return remove;
}

/** The canned replies of the project. */
export function CannedSection() {
  const { t } = useTexts();
  const { connection, queryClient, toasts } = useServices();
  const project = useProject();
  const mayWrite = useRights()("tickets:write");
  const [words, setWords] = useState("");
  const q = useDeferredValue(words.trim());
  const [open, setOpen] = useState<{ item: CannedReply | null } | null>(null);
  const replies = useInfiniteQuery({ ...cannedPagesQuery(connection, project, q), placeholderData: keepPreviousData });
  const folders = [...new Set(itemsOf(replies).flatMap(({ folder }) => folder ?? []))].sort();
  const refresh = () => queryClient.invalidateQueries({ queryKey: ["canned-replies", project] });

  const remove = useRemoveCanned();
  function onSaved({ name }: CannedReply) {
    setOpen(null);
    void refresh();
    toasts.show({ kind: "done", text: t("canned.saved", { name }) });
  }

  return (
    <>
      <ResourcePage
        query={replies}
        label={t("administration.canned")}
        head={t("canned.about", { project })}
        filter={
          <Field label={t("canned.find")} type="search" value={words} onChange={setWords} className="mb-4 max-w-sm" />
        }
        create={
          mayWrite ? { id: "new-canned", title: t("canned.make"), run: () => setOpen({ item: null }) } : undefined
        }
        icon={MessageSquareText}
        empty={{
          title: t(q === "" ? "canned.none" : "canned.nothingFits"),
          text: t(q === "" ? "canned.noneText" : "canned.nothingFitsText"),
          isFiltered: q !== "",
        }}
      >
        {(item) => (
          <CannedRow
            item={item}
            actions={mayWrite ? { change: () => setOpen({ item }), remove: () => void remove(item) } : null}
          />
        )}
      </ResourcePage>
      {open !== null && (
        <CannedDialog item={open.item} folders={folders} onSaved={onSaved} onClose={() => setOpen(null)} />
      )}
    </>
  );
}
