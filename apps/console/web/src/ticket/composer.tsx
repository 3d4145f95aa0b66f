import { MessageSquareReply, Paperclip, StickyNote, Wand } from "lucide-react";
import { useEffect, useImperativeHandle, useRef, useState } from "react";
import type { KeyboardEvent, Ref } from "react";
import { flushSync } from "react-dom";
import type { TicketDetail } from "@svc/contracts";
import { useTexts } from "../i18n/texts.ts";
import { isTask } from "../inbox/describe-ticket.ts";
import { useServices, usePeople } from "../session/services.ts";
import type { Person } from "../session/services.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { lazyDialog } from "../ui/lazy-dialog.tsx";
import { Markdown } from "../ui/markdown.tsx";
import { FileChooser, useFileDrop } from "../ui/use-file-drop.tsx";
import { ChangesNotice, MentionList, ReplyFileList } from "./composer-parts.tsx";
import { findMention, mentionsIn } from "./find-mention.ts";
import { describeChanges, isInTheWay, seenOf } from "./own-drafts.ts";
import type { SeenTicket, ComposeMode, KeptFile, OwnDraft, OwnDrafts } from "./own-drafts.ts";
import { useReplyFiles } from "./use-reply-files.ts";
import type { TicketActions } from "./use-ticket-actions.ts";

const CannedPicker = lazyDialog(async () => (await import("./canned-picker.tsx")).CannedPicker);

/** What commands do with the place where one writes. */
export interface ComposeTarget {
  open: (mode: ComposeMode) => void;
}

/** What is typed is kept this long after the last letter: a reload loses at most that. */
const KEEP_MS = 250;
/** Who has not typed for so long is not typing any more. */
const TYPING_MS = 4_000;
const NO_FILES: readonly KeptFile[] = [];

const MODES = {
  reply: { title: "compose.reply", icon: MessageSquareReply, placeholder: "compose.replyHint", submit: "compose.send" },
  edit: { title: "compose.edit", icon: Wand, placeholder: "compose.replyHint", submit: "compose.sendEdit" },
  note: { title: "compose.note", icon: StickyNote, placeholder: "compose.noteHint", submit: "compose.addNote" },
} as const;

/** Where operators write: an answer, the draft in words of their own, or a note for each other. */
export function Composer({
  ref,
  ticket,
  drafts,
  mode,
  onMode,
  act,
  isBusy,
  onTyping,
  onSent,
}: {
  ref: Ref<ComposeTarget>;
  ticket: TicketDetail;
  drafts: OwnDrafts;
  mode: ComposeMode;
  onMode: (mode: ComposeMode) => void;
  act: TicketActions["act"];
  isBusy: boolean;
  onTyping: (isTyping: boolean) => void;
  onSent: (mode: ComposeMode) => void;
}) {
  const { t } = useTexts();
  const { toasts } = useServices();
  const { me, people } = usePeople();
  const area = useRef<HTMLTextAreaElement>(null);
  const notice = useRef<HTMLDivElement>(null);
  const chooser = useRef<HTMLInputElement>(null);
  const [kept] = useState(() => drafts.find(ticket.id));
  const files = useReplyFiles({ ticketId: ticket.id, project: ticket.project, kept: kept?.files ?? NO_FILES });
  const [text, setText] = useState(kept?.text ?? "");
  const [isOpen, setOpen] = useState(kept !== null);
  const [isSending, setSending] = useState(false);
  const [isPreview, setPreview] = useState(false);
  const [isChoosing, setChoosing] = useState(false);
  const [caret, setCaret] = useState(0);
  const [picked, setPicked] = useState(0);
  // What was seen of the ticket when the text was begun.
  const [seen, setSeen] = useState<SeenTicket>(() => kept?.seen ?? seenOf(ticket));
  const isBegun = text.trim() !== "";
  const changes = isBegun ? describeChanges(seen, ticket, me) : [];
  // Nobody receives replies to a task.
  const takesReplies = !isTask(ticket);
  const draftText = ticket.draft?.text ?? "";
  // A draft without a text is one that the agent found no answer for: there is nothing to edit.
  const hasDraft = draftText.trim() !== "" && takesReplies;
  const shownMode: ComposeMode = !takesReplies ? "note" : mode === "edit" && !hasDraft ? "reply" : mode;
  const takesFiles = shownMode !== "note";
  const drop = useFileDrop(takesFiles, (dropped) => addFiles(dropped));

  // Only what was written in this tab is kept by it: of two that show the same text, the one that has sent it says so.
  const isOwn = useRef(false);
  const latest = useRef<OwnDraft>({ mode: shownMode, text, seen, files: files.kept });
  useEffect(() => {
    latest.current = { mode: shownMode, text, seen, files: files.kept };
  });
  const keptFiles = JSON.stringify(files.kept);
  useEffect(() => {
    const keep = () => {
      if (isOwn.current) drafts.keep(ticket.id, latest.current);
    };
    const timer = setTimeout(keep, KEEP_MS);
    globalThis.addEventListener("pagehide", keep);
    return () => {
      clearTimeout(timer);
      globalThis.removeEventListener("pagehide", keep);
    };
  }, [drafts, keptFiles, seen, shownMode, text, ticket.id]);
  useEffect(
    () => () => {
      if (isOwn.current) drafts.keep(ticket.id, latest.current);
    },
    [drafts, ticket.id],
  );
  const hearOther = useRef<(draft: OwnDraft | null) => void>(() => undefined);
  useEffect(() => {
    hearOther.current = (draft) => {
      if (isOwn.current) return;
      setText(draft?.text ?? "");
      setSeen(draft?.seen ?? seenOf(ticket));
      files.replace(draft?.files ?? NO_FILES);
      if (draft !== null) onMode(draft.mode);
    };
  });
  useEffect(() => drafts.onOther(ticket.id, (draft) => hearOther.current(draft)), [drafts, ticket.id]);

  const typing = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const stopTyping = () => {
    clearTimeout(typing.current);
    onTyping(false);
  };
  useEffect(() => () => clearTimeout(typing.current), []);

  function write(next: string) {
    if (isSending) return;
    isOwn.current = true;
    if (!isBegun) setSeen(seenOf(ticket));
    setText(next);
    onTyping(next.trim() !== "");
    clearTimeout(typing.current);
    typing.current = setTimeout(() => onTyping(false), TYPING_MS);
  }
  const focus = () => {
    area.current?.focus();
    // A dialog that closes now returns the focus to what had it before.
    requestAnimationFrame(() => area.current?.focus());
  };
  useImperativeHandle(ref, () => ({
    open(next) {
      // The field has the focus before the next key arrives, which would be a command elsewhere.
      flushSync(() => {
        onMode(next);
        setOpen(true);
        setPreview(false);
        if (next === "edit" && !isBegun && hasDraft) {
          isOwn.current = true;
          setSeen(seenOf(ticket));
          setText(draftText);
        }
      });
      focus();
    },
  }));

  const mention = shownMode === "note" ? findMention(text, caret) : null;
  const found =
    mention === null
      ? []
      : people.filter(({ isMe, name }) => !isMe && name.toLowerCase().includes(mention.word.toLowerCase())).slice(0, 6);
  const insert = (at: number, end: number, words: string) => {
    write(text.slice(0, at) + words + text.slice(end));
    const place = at + words.length;
    requestAnimationFrame(() => {
      area.current?.focus();
      area.current?.setSelectionRange(place, place);
      setCaret(place);
    });
  };
  /** Whom the note is for where several have the same name. */
  const chosen = useRef<string[]>([]);
  const mentionPerson = ({ actor, name }: Person) => {
    if (mention === null) return;
    chosen.current.push(actor);
    insert(mention.at, caret, `@${name} `);
  };

  async function send() {
    if (!isBegun || isBusy || isSending || (takesFiles && files.isSending)) return;
    if (takesFiles && files.hasFailed) {
      toasts.show({ kind: "error", text: t("compose.failedFile") });
      return;
    }
    if (shownMode !== "note" && isInTheWay(changes)) {
      notice.current?.focus();
      toasts.show({ kind: "error", text: t("conflict.toast") });
      return;
    }
    const done = t(shownMode === "note" ? "done.note" : "done.reply");
    const { attachments } = files;
    const withFiles = attachments.length === 0 ? {} : { attachments };
    // What would be typed meanwhile would go with what is sent, and yet not be sent.
    setSending(true);
    const isSent =
      shownMode === "note"
        ? await act("note", { text, ...mentionsIn(text, people, chosen.current) }, { version: null, done })
        : shownMode === "edit"
          ? await act("edit", { text, ...withFiles }, { done })
          : await act("reply", { text, markdown: true, ...withFiles }, { done });
    setSending(false);
    // Nothing that was typed is lost where it could not be sent.
    if (!isSent) return;
    stopTyping();
    // The keys are commands again.
    area.current?.blur();
    isOwn.current = !takesFiles && files.files.length > 0;
    if (!isOwn.current) drafts.forget(ticket.id);
    chosen.current = [];
    // The files of a reply do not go with a note: they stay for the reply.
    if (takesFiles) files.replace(NO_FILES);
    setText("");
    setPreview(false);
    setOpen(false);
    onMode("reply");
    onSent(shownMode);
  }
  function addFiles(chosen: readonly File[]) {
    if (isSending) return;
    isOwn.current = true;
    setOpen(true);
    files.add(chosen);
  }
  function press(event: KeyboardEvent) {
    if (found.length > 0 && ["ArrowDown", "ArrowUp", "Enter", "Tab"].includes(event.key)) {
      event.preventDefault();
      const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
      const person = found[picked % found.length];
      if (by === 0 && person !== undefined) mentionPerson(person);
      else setPicked((now) => (now + by + found.length) % found.length);
    } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      void send();
    } else if (event.key === "Escape") {
      event.preventDefault();
      area.current?.blur();
      if (!isBegun) setOpen(false);
    } else if (event.key === "/" && text === "" && shownMode !== "note") {
      event.preventDefault();
      setChoosing(true);
    }
  }

  const { placeholder, submit } = MODES[shownMode];
  const tabs = [
    ...(takesReplies ? ["reply" as const] : []),
    ...(hasDraft ? ["edit" as const] : []),
    "note" as const,
  ].map((name) => ({
    name,
    ...MODES[name],
  }));
  return (
    <div
      {...drop.handlers}
      className={`shrink-0 border-t border-line ${
        drop.isOver ? "bg-accent-soft" : shownMode === "note" ? "bg-warn-soft" : "bg-surface"
      }`}
    >
      <div className="mx-auto max-w-3xl px-5 py-2.5 max-sm:px-3">
        <ChangesNotice
          ref={notice}
          changes={changes}
          onSeen={() => {
            isOwn.current = true;
            setSeen(seenOf(ticket));
            focus();
          }}
        />
        <div role="group" aria-label={t("compose.kind")} className="flex items-center gap-1">
          {tabs.map(({ name, icon: Icon, title }) => (
            <button
              key={name}
              type="button"
              aria-pressed={shownMode === name}
              onClick={() => {
                if (isBegun) isOwn.current = true;
                onMode(name);
                setOpen(true);
                if (name === "edit" && !isBegun) write(draftText);
                focus();
              }}
              className="flex h-7 items-center gap-1.5 rounded-md px-2 text-xs font-medium text-muted hover:text-ink aria-pressed:bg-hover aria-pressed:text-ink"
            >
              <Icon aria-hidden className="size-3.5" />
              {t(title)}
            </button>
          ))}
          <span className="flex-1" />
          {isOpen && shownMode !== "note" && (
            <>
              <IconButton
                icon={Paperclip}
                size="small"
                label={t("compose.attach")}
                onClick={() => chooser.current?.click()}
              />
              <Button size="small" look="quiet" onClick={() => setChoosing(true)}>
                {t("compose.canned")}
              </Button>
              <Button
                size="small"
                look="quiet"
                aria-pressed={isPreview}
                disabled={!isBegun}
                onClick={() => setPreview((shown) => !shown)}
              >
                {t(isPreview ? "compose.write" : "compose.preview")}
              </Button>
            </>
          )}
        </div>
        <div className="relative mt-1.5">
          {isPreview ? (
            <div className="max-h-[40vh] min-h-24 overflow-y-auto rounded-lg border border-line bg-page px-3 py-2">
              <Markdown text={text} />
            </div>
          ) : (
            <textarea
              ref={area}
              value={text}
              readOnly={isSending}
              rows={isOpen ? 4 : 1}
              dir="auto"
              aria-label={t(MODES[shownMode].title)}
              placeholder={t(placeholder)}
              onFocus={() => setOpen(true)}
              onChange={({ currentTarget }) => {
                write(currentTarget.value);
                setCaret(currentTarget.selectionStart);
                setPicked(0);
              }}
              onPaste={(event) => {
                const pasted = [...event.clipboardData.files];
                if (pasted.length === 0 || !takesFiles) return;
                event.preventDefault();
                addFiles(pasted);
              }}
              onSelect={({ currentTarget }) => setCaret(currentTarget.selectionStart)}
              onBlur={stopTyping}
              onKeyDown={press}
              className="field-sizing-content block max-h-[40vh] min-h-9 w-full resize-none rounded-lg border border-edge bg-surface px-3 py-1.5 text-base"
            />
          )}
          {found.length > 0 && <MentionList people={found} picked={picked % found.length} onPick={mentionPerson} />}
        </div>
        {takesFiles && (
          <ReplyFileList
            files={files}
            onRemove={(key) => {
              isOwn.current = true;
              files.remove(key);
            }}
          />
        )}
        <FileChooser ref={chooser} onFiles={addFiles} />
        {isOpen && (
          <div className="mt-2 flex items-center gap-2">
            <p className="min-w-0 flex-1 truncate text-xs text-muted max-sm:hidden">
              {t(shownMode === "note" ? "compose.noteFoot" : "compose.foot")}
            </p>
            <Button
              look="primary"
              keys="mod+Enter"
              disabled={!isBegun || (takesFiles && files.isSending)}
              isBusy={isBusy}
              className="max-sm:ml-auto"
              onClick={() => void send()}
            >
              {t(submit)}
            </Button>
          </div>
        )}
      </div>
      {isChoosing && (
        <CannedPicker
          ticket={ticket}
          onClose={() => {
            setChoosing(false);
            focus();
          }}
          onPick={(words) => insert(caret, caret, words)}
        />
      )}
    </div>
  );
}
