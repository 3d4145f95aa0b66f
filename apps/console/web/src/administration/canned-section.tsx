import { ServiceError } from "@svc/client";
import { useId, useRef, useState, useDeferredValue } from "react";
import type { CannedReply, CannedReplyVariable } from "@svc/contracts";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { MessageSquareText, Pencil, Plus, Trash2 } from "lucide-react";
import { cannedPagesQuery } from "../api/administration.ts";
import { useAction } from "../forms/use-action.ts";
import { FormDialog } from "../forms/form-dialog.tsx";
import { useTexts } from "../i18n/texts.ts";
import { PagedList } from "../lists/paged-list.tsx";
import { useServices, useCommands, useProject, useSession, useRights } from "../session/services.ts";
import { Badge } from "../ui/badge.tsx";
import { Button, IconButton } from "../ui/button.tsx";
import { Field, TextArea } from "../ui/field.tsx";
import { Markdown } from "../ui/markdown.tsx";
import { EmptyState } from "../ui/notice.tsx";
import { fillExample } from "./fill-example.ts";

/** CANNED_REPLY_LIMITS of the contracts say the same; the server checks. */
const NAME_MAX_CHARS = 200;
const TEXT_MAX_CHARS = 50_000;

/** Every variable, with what stands in its place as an example; those that are empty here are known to the page. */
const EXAMPLES = {
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

const tagsOf = (typed: string) =>
  typed
    .split(",")
    .map((tag) => tag.trim().replace(/^#/, ""))
    .filter((tag) => tag !== "");

/** Writes a canned reply, or changes the one that is given, beside how it will look. */
function CannedForm({
  item,
  folders,
  onSaved,
  onClose,
}: {
  item: CannedReply | null;
  /** Folders that there are. */
  folders: readonly string[];
  onSaved: (saved: CannedReply) => void;
  onClose: () => void;
}) {
  const { t } = useTexts();
  const { connection } = useServices();
  const { operator } = useSession();
  const project = useProject();
  const foldersId = useId();
  const area = useRef<HTMLTextAreaElement>(null);
  const [name, setName] = useState(item?.name ?? "");
  const [folder, setFolder] = useState(item?.folder ?? "");
  const [tags, setTags] = useState(item?.tags.join(", ") ?? "");
  const [text, setText] = useState(item?.text ?? "");
  const [version, setVersion] = useState(item?.version ?? 0);
  const [isOvertaken, setOvertaken] = useState(false);
  const preview = fillExample(text, {
    ...EXAMPLES,
    "ticket.subject": t("canned.exampleSubject"),
    "project.name": project,
    "operator.name": operator.name,
  });
  const unknown = preview.unknown.map((variable) => `{{${variable}}}`).join(", ");

  function insert(variable: CannedReplyVariable) {
    const { selectionStart = text.length, selectionEnd = text.length } = area.current ?? {};
    const words = `{{${variable}}}`;
    setText(text.slice(0, selectionStart) + words + text.slice(selectionEnd));
    const place = selectionStart + words.length;
    requestAnimationFrame(() => {
      area.current?.focus();
      area.current?.setSelectionRange(place, place);
    });
  }

  /**
   * Changes only what was changed here. Returns null if another operator has changed the reply meanwhile, after
   * saying so: the next attempt applies to the current reply.
   */
  async function change(before: CannedReply): Promise<CannedReply | null> {
    const typed = { name: name.trim(), text, folder: folder.trim() === "" ? null : folder.trim() };
    const body = {
      ...(typed.name === before.name ? {} : { name: typed.name }),
      ...(typed.text === before.text ? {} : { text: typed.text }),
      ...(typed.folder === before.folder ? {} : { folder: typed.folder }),
      ...(tags === before.tags.join(", ") ? {} : { tags: tagsOf(tags) }),
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

  async function make(): Promise<CannedReply> {
    const body = { name: name.trim(), text, tags: tagsOf(tags) };
    const inFolder = folder.trim() === "" ? {} : { folder: folder.trim() };
    return (await connection.call("createCannedReply", project, { body: { ...body, ...inFolder } })).item;
  }

  async function submit() {
    const saved = item === null ? await make() : await change(item);
    if (saved !== null) onSaved(saved);
  }

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
        value={name}
        maxLength={NAME_MAX_CHARS}
        required
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <Field
          label={t("canned.folder")}
          value={folder}
          maxLength={NAME_MAX_CHARS}
          list={foldersId}
          onChange={({ currentTarget }) => setFolder(currentTarget.value)}
        />
        <datalist id={foldersId}>
          {folders.map((known) => (
            <option key={known} value={known} />
          ))}
        </datalist>
        <Field
          label={t("canned.tags")}
          hint={t("canned.tagsHint")}
          value={tags}
          onChange={({ currentTarget }) => setTags(currentTarget.value)}
        />
      </div>
      <div className="grid gap-4 md:grid-cols-2">
        <div className="flex min-w-0 flex-col gap-2">
          <TextArea
            ref={area}
            label={t("canned.text")}
            hint={t("canned.textHint")}
            error={preview.unknown.length === 0 ? undefined : t("canned.unknown", { names: unknown })}
            rows={10}
            maxLength={TEXT_MAX_CHARS}
            required
            value={text}
            onChange={({ currentTarget }) => setText(currentTarget.value)}
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
        <section aria-label={t("canned.preview")} className="min-w-0">
          <h3 className="mb-1 text-sm font-medium">{t("canned.preview")}</h3>
          <div
            dir="auto"
            className="max-h-80 min-h-24 overflow-y-auto rounded-md border border-line bg-sunken px-3 py-2 text-sm wrap-anywhere"
          >
            {text.trim() === "" ? (
              <p className="text-muted">{t("canned.previewEmpty")}</p>
            ) : (
              <Markdown text={preview.text} />
            )}
          </div>
          <p className="mt-1 text-xs text-muted">{t("canned.previewHint")}</p>
        </section>
      </div>
    </FormDialog>
  );
}

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
