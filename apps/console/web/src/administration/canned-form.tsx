import { ServiceFault } from "@svc/client";
import { useId, useRef, useState } from "react";
import type { SubmitEvent } from "react";
import type { CannedReply, CannedReplyVariable } from "@svc/contracts";
import { useServices } from "../app/services.ts";
import { useProject, useSession } from "../app/use-session.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Field } from "../ui/field.tsx";
import { Markdown } from "../ui/markdown.tsx";
import { TextArea } from "../ui/text-area.tsx";
import { fillExample } from "./fill-example.ts";
import { FormFault } from "./form-fault.tsx";
import { useAction } from "./use-action.ts";

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
export function CannedForm({
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
  const formId = useId();
  const foldersId = useId();
  const area = useRef<HTMLTextAreaElement>(null);
  const [name, setName] = useState(item?.name ?? "");
  const [folder, setFolder] = useState(item?.folder ?? "");
  const [tags, setTags] = useState(item?.tags.join(", ") ?? "");
  const [text, setText] = useState(item?.text ?? "");
  const [version, setVersion] = useState(item?.version ?? 0);
  const [isOvertaken, setOvertaken] = useState(false);
  const { fault, isBusy, run } = useAction();
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
   * Changes only what was changed here. Null where somebody else has changed the reply meanwhile, which is told first:
   * the next try is for the reply as it is now.
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
      if (!(cause instanceof ServiceFault) || cause.code !== "version_conflict") throw cause;
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

  async function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    await run(async () => {
      const saved = item === null ? await make() : await change(item);
      if (saved !== null) onSaved(saved);
    });
  }

  return (
    <Dialog
      title={item === null ? t("canned.make") : t("canned.change", { name: item.name })}
      width="wide"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t("ui.cancel")}</Button>
          <Button type="submit" form={formId} look="primary" isBusy={isBusy} disabled={preview.unknown.length > 0}>
            {t("ui.save")}
          </Button>
        </>
      }
    >
      <form id={formId} onSubmit={(event) => void submit(event)} className="flex flex-col gap-4 p-4">
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
              fault={preview.unknown.length === 0 ? undefined : t("canned.unknown", { names: unknown })}
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
        <FormFault fault={fault ?? (isOvertaken ? t("canned.overtaken") : null)} />
      </form>
    </Dialog>
  );
}
