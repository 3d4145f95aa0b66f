import { CircleAlert, LoaderCircle, Paperclip, RotateCw, X, RefreshCw, Zap } from "lucide-react";
import type { Ref } from "react";
import { useTexts } from "../i18n/texts.ts";
import type { Texts } from "../i18n/texts.ts";
import { usePeople } from "../session/services.ts";
import type { Person } from "../session/services.ts";
import { Avatar } from "../ui/badge.tsx";
import { Button, IconButton } from "../ui/button.tsx";
import { formatBytes } from "../ui/files.ts";
import { ActionChips } from "./reply-actions.tsx";
import type { Macro, UnseenChange } from "./own-drafts.ts";
import { ImageThumb } from "./image-view.tsx";
import type { ReplyFile, ReplyFiles } from "./use-own-draft.ts";

/** Operators who can be mentioned; the text field keeps the focus and handles the keys. */
export function MentionList({
  people,
  picked,
  onPick,
}: {
  people: readonly Person[];
  picked: number;
  onPick: (person: Person) => void;
}) {
  const { t } = useTexts();
  return (
    <ul
      role="listbox"
      aria-label={t("compose.mention")}
      className="absolute bottom-full left-0 z-20 mb-1 w-60 rounded-lg border border-line bg-raised p-1 shadow-pop"
    >
      {people.map((person, index) => (
        <li
          key={person.actor}
          role="option"
          aria-selected={index === picked}
          onPointerDown={(event) => {
            event.preventDefault();
            onPick(person);
          }}
          className="flex cursor-pointer items-center gap-2 rounded-md px-2 py-1.5 text-sm aria-selected:bg-hover"
        >
          <Avatar name={person.name} size="small" />
          <span className="truncate">{person.name}</span>
        </li>
      ))}
    </ul>
  );
}

/** The changes to the ticket with the reply. */
export function MacroList({ macro, onRemove }: { macro: Macro; onRemove: () => void }) {
  const { t } = useTexts();
  return (
    <div role="group" aria-label={t("macro.title")} className="mt-2 flex flex-wrap items-center gap-1.5">
      <Zap aria-hidden className="size-3.5 shrink-0 text-muted" />
      <ActionChips actions={{ ...macro.actions, resolves: macro.resolves }} />
      <IconButton icon={X} size="small" label={t("macro.remove")} onClick={onRemove} />
    </div>
  );
}

const SIGNS = {
  sending: { icon: LoaderCircle, className: "animate-spin text-accent" },
  ready: { icon: Paperclip, className: "text-faint" },
  failed: { icon: CircleAlert, className: "text-bad" },
} as const satisfies Record<ReplyFile["state"], { icon: typeof Paperclip; className: string }>;

/** The files of the text being written. */
export function ReplyFileList({
  files: { files, tryAgain },
  onRemove,
}: {
  files: ReplyFiles;
  onRemove: (key: number) => void;
}) {
  const texts = useTexts();
  const { t } = texts;
  if (files.length === 0) return null;
  return (
    <ul aria-label={t("ticket.files")} className="mt-1.5 flex flex-wrap gap-1.5">
      {files.map((file) => {
        const { content, error, image, key, name, sizeBytes, state } = file;
        const { icon: Icon, className } = SIGNS[state];
        const sign = <Icon aria-hidden className={`size-3.5 shrink-0 ${className}`} />;
        return (
          <li
            key={key}
            className="flex max-w-full items-center gap-1.5 rounded-md border border-line bg-surface py-0.5 pr-0.5 pl-2 text-xs"
          >
            {image === null || state === "failed" ? sign : <ImageThumb file={image}>{sign}</ImageThumb>}
            <span dir="auto" className="truncate font-medium">
              {name}
            </span>
            <span role="status" className={`shrink-0 ${error === null ? "text-muted" : "text-bad"}`}>
              {error ?? (state === "sending" ? t("compose.sending") : formatBytes(sizeBytes, texts))}
            </span>
            {state === "failed" && content !== null && (
              <button
                type="button"
                aria-label={t("compose.retryFile", { name })}
                title={t("compose.retryFile", { name })}
                onClick={() => tryAgain(file)}
                className="flex size-6 shrink-0 items-center justify-center rounded text-muted hover:bg-hover hover:text-ink"
              >
                <RotateCw aria-hidden className="size-3.5" />
              </button>
            )}
            <button
              type="button"
              aria-label={t("compose.removeFile", { name })}
              title={t("compose.removeFile", { name })}
              onClick={() => onRemove(key)}
              className="flex size-6 shrink-0 items-center justify-center rounded text-muted hover:bg-hover hover:text-ink"
            >
              <X aria-hidden className="size-3.5" />
            </button>
          </li>
        );
      })}
    </ul>
  );
}

const QUOTE_MAX_CHARS = 160;
const quote = (text: string) => (text.length > QUOTE_MAX_CHARS ? `${text.slice(0, QUOTE_MAX_CHARS)}…` : text);

interface DescribeWith {
  t: Texts["t"];
  nameOf: (actor: string) => string;
}

/** Descriptions of each kind of change. */
const DESCRIPTIONS: {
  [Kind in UnseenChange["kind"]]: (change: Extract<UnseenChange, { kind: Kind }>, context: DescribeWith) => string;
} = {
  message: ({ text }, { t }) => t("conflict.message", { text: quote(text) }),
  reply: ({ author, text }, { t }) =>
    t(author === "operator" ? "conflict.reply" : "conflict.agentReply", { text: quote(text) }),
  draft: (_, { t }) => t("conflict.draft"),
  status: ({ status }, { t }) => t("conflict.status", { status: t(`status.${status}`) }),
  assignee: ({ assignee }, { nameOf, t }) =>
    assignee === null ? t("conflict.unassigned") : t("conflict.assigned", { name: nameOf(assignee) }),
};

function describeChange(change: UnseenChange, context: DescribeWith): string {
  // The description of each kind accepts changes of that kind.
  const describe = DESCRIPTIONS[change.kind] as (change: UnseenChange, context: DescribeWith) => string;
  return describe(change, context);
}

/** The changes since the text was started, which must be seen before it is sent. */
export function ChangesNotice({
  ref,
  changes,
  onSeen,
}: {
  ref: Ref<HTMLDivElement>;
  changes: readonly UnseenChange[];
  onSeen: () => void;
}) {
  const { t } = useTexts();
  const { nameOf } = usePeople();
  return (
    <div ref={ref} role="status" tabIndex={-1} className="outline-none">
      {changes.length > 0 && (
        <div className="animate-appear mb-2 flex items-start gap-2.5 rounded-lg border border-warn/30 bg-warn-soft px-3 py-2 text-sm">
          <RefreshCw aria-hidden className="mt-0.5 size-4 shrink-0 text-warn" />
          <div className="min-w-0 flex-1">
            <p className="font-semibold">{t("conflict.title")}</p>
            <ul>
              {changes.map((change, index) => (
                <li key={index} dir="auto" className="wrap-anywhere text-muted">
                  {describeChange(change, { t, nameOf })}
                </li>
              ))}
            </ul>
          </div>
          <Button size="small" onClick={onSeen}>
            {t("conflict.seen")}
          </Button>
        </div>
      )}
    </div>
  );
}
