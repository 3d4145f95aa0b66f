import { CheckCheck, ListEnd, MessageSquareReply, Paperclip, Smile, StickyNote, Wand } from "lucide-react";
import { useRef, useState } from "react";
import type { Source } from "@svc/contracts";
import { useTexts } from "../i18n/texts.ts";
import type { Person } from "../session/services.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { lazyDialog } from "../ui/dialog.tsx";
import { Markdown } from "../ui/markdown.tsx";
import { FileChooser, useFileDrop } from "../ui/use-file-drop.tsx";
import { DraftBar, SourceChips } from "./draft-bar.tsx";
import type { DraftHandlers } from "./draft-bar.tsx";
import { ChangesNotice, MacroList, MentionList, ReplyFileList } from "./composer-parts.tsx";
import { signedText, useComposer, useComposerKeys } from "./use-composer.ts";
import type { ComposerProps, ComposerState } from "./use-composer.ts";

const CannedPicker = lazyDialog(async () => (await import("./composer-pickers.tsx")).CannedPicker);

const EmojiPicker = lazyDialog(async () => (await import("./composer-pickers.tsx")).EmojiPicker);

const MODES = {
  reply: { title: "compose.reply", icon: MessageSquareReply, placeholder: "compose.replyHint", submit: "compose.send" },
  edit: { title: "compose.edit", icon: Wand, placeholder: "compose.replyHint", submit: "compose.sendEdit" },
  note: { title: "compose.note", icon: StickyNote, placeholder: "compose.noteHint", submit: "compose.addNote" },
} as const;

/** Buttons for the kind of text, and for attachments, canned replies and the preview. */
function ComposerBar({
  state,
  onAttach,
  onCanned,
  onEmoji,
}: {
  state: ComposerState;
  onAttach: () => void;
  onCanned: () => void;
  onEmoji: () => void;
}) {
  const { t } = useTexts();
  const { unsentModes, choose, isOpen, isPreview, mode, modes, text, togglePreview } = state;
  return (
    <div role="group" aria-label={t("compose.kind")} className="flex flex-wrap items-center gap-1">
      {modes.map((name) => {
        const { icon: Icon, title } = MODES[name];
        return (
          <button
            key={name}
            type="button"
            aria-pressed={mode === name}
            onClick={() => choose(name)}
            className="flex h-7 items-center gap-1.5 rounded-md px-2 text-xs font-medium text-muted hover:text-ink aria-pressed:bg-hover aria-pressed:text-ink"
          >
            <Icon aria-hidden className="size-3.5" />
            {t(title)}
            {unsentModes.includes(name) && (
              <span role="img" aria-label={t("compose.unsent")} className="size-1.5 rounded-full bg-accent" />
            )}
          </button>
        );
      })}
      <span className="flex-1" />
      {isOpen && !isPreview && <IconButton icon={Smile} size="small" label={t("compose.emoji")} onClick={onEmoji} />}
      {isOpen && mode !== "note" && (
        <>
          <IconButton icon={Paperclip} size="small" label={t("compose.attach")} onClick={onAttach} />
          <Button size="small" variant="quiet" onClick={onCanned}>
            {t("compose.canned")}
          </Button>
          <Button
            size="small"
            variant="quiet"
            aria-pressed={isPreview}
            disabled={text.trim() === ""}
            onClick={togglePreview}
          >
            {t(isPreview ? "compose.write" : "compose.preview")}
          </Button>
        </>
      )}
    </div>
  );
}

/** The text field with suggestions for mentions, or the preview of the text. */
function ComposerField({ state, onCanned }: { state: ComposerState; onCanned: () => void }) {
  const { t } = useTexts();
  const { addFiles, area, insert, isOpen, isPreview, isSending, mentions, mode, setOpen, takesFiles, text } = state;
  const { chosen, found, mention, picked, setCaret, setPicked } = mentions;
  const mentionPerson = ({ actor, name }: Person) => {
    if (mention === null) return;
    chosen.current.push(actor);
    insert(`@${name} `, mention.at);
  };
  const handleKey = useComposerKeys(state, onCanned, mentionPerson);
  return (
    <div className="relative mt-1.5">
      {isPreview ? (
        <div className="max-h-[40vh] min-h-24 overflow-y-auto rounded-lg border border-line bg-page px-3 py-2">
          <Markdown text={signedText(text, state.signature)} />
        </div>
      ) : (
        <textarea
          ref={area}
          value={text}
          readOnly={isSending}
          rows={isOpen ? 4 : 1}
          dir="auto"
          aria-label={t(MODES[mode].title)}
          placeholder={t(MODES[mode].placeholder)}
          onFocus={() => setOpen(true)}
          onChange={({ currentTarget }) => {
            state.write(currentTarget.value);
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
          onBlur={() => state.signalTyping(false, false)}
          onKeyDown={handleKey}
          className="field-sizing-content block max-h-[40vh] min-h-9 max-sm:max-h-[26vh] w-full resize-none rounded-lg border border-edge bg-surface px-3 py-1.5 text-base"
        />
      )}
      {found.length > 0 && <MentionList people={found} picked={picked % found.length} onPick={mentionPerson} />}
    </div>
  );
}

/** Buttons that send a reply and do something else afterwards. */
const AFTER_SEND = [
  { after: "next", icon: ListEnd, title: "compose.sendNext", keys: "mod+alt+Enter" },
  { after: "resolve", icon: CheckCheck, title: "compose.sendResolve", keys: "mod+shift+Enter" },
] as const;

/** Buttons that send the text or the files, and a hint that says who receives it. */
function ComposerFoot({ state, isWeak, isBusy }: { state: ComposerState; isWeak: boolean; isBusy: boolean }) {
  const { t } = useTexts();
  const { files, isReady, sendsFilesOnly, showsDraft, mode, send, signature, takesFiles } = state;
  const isDisabled = !isReady || (takesFiles && files.isSending);
  const foot = sendsFilesOnly ? "compose.filesOnly" : signature === "" ? "compose.foot" : "compose.footSigned";
  return (
    <div className="mt-2 flex items-center justify-end gap-2">
      <p
        aria-live="polite"
        className={`min-w-0 flex-1 truncate text-xs text-muted ${sendsFilesOnly ? "" : "max-sm:hidden"}`}
      >
        {t(mode === "note" ? "compose.noteFoot" : foot)}
      </p>
      {mode !== "note" &&
        AFTER_SEND.map(({ after, icon, keys, title }) => (
          <IconButton
            key={after}
            icon={icon}
            keys={keys}
            label={t(title)}
            disabled={isDisabled || isBusy}
            onClick={() => void send(after)}
          />
        ))}
      <Button
        variant={showsDraft && isWeak ? "plain" : "primary"}
        keys={showsDraft ? "a" : "mod+Enter"}
        disabled={isDisabled}
        isBusy={isBusy}
        onClick={() => void send()}
      >
        {t(showsDraft ? "action.approve" : MODES[sendsFilesOnly ? "reply" : mode].submit)}
      </Button>
    </div>
  );
}

/** The composer of a ticket: an operator sends or edits the draft, replies, or adds a note. */
export function Composer(
  props: ComposerProps & { busy: string | null; handlers: DraftHandlers; onSource: (source: Source) => void },
) {
  const { ticket, busy, handlers, draft, isBusy, onSource } = props;
  const { t } = useTexts();
  const state = useComposer(props);
  const chooser = useRef<HTMLInputElement>(null);
  const [picker, setPicker] = useState<"canned" | "emoji" | null>(null);
  const { addFiles, choose, files, isOpen, macro, mode, takesFiles } = state;
  const drop = useFileDrop(takesFiles, addFiles);
  const openPicker = () => setPicker("canned");
  const closePicker = () => {
    setPicker(null);
    state.focus();
  };
  const hasText = draft !== null && draft.item.text.trim() !== "";
  return (
    <section
      {...drop.handlers}
      aria-label={t(draft === null ? "compose.title" : "draft.title")}
      className={`shrink-0 border-t border-line ${
        drop.isOver ? "bg-accent-soft" : mode === "note" ? "bg-warn-soft" : "bg-surface"
      }`}
    >
      <div className="mx-auto max-w-3xl px-5 py-2.5 max-sm:px-3">
        <ChangesNotice ref={state.notice} changes={state.changes} onSeen={state.acceptChanges} />
        {draft !== null && (
          <DraftBar
            draft={draft}
            busy={busy}
            handlers={handlers}
            onUse={hasText && mode !== "edit" ? () => choose("edit") : null}
          />
        )}
        <ComposerBar
          state={state}
          onAttach={() => chooser.current?.click()}
          onCanned={openPicker}
          onEmoji={() => setPicker("emoji")}
        />
        <ComposerField state={state} onCanned={openPicker} />
        {mode === "edit" && draft !== null && <SourceChips sources={draft.item.sources} onSource={onSource} />}
        {takesFiles && <ReplyFileList files={files} onRemove={state.removeFile} />}
        {takesFiles && macro !== null && <MacroList macro={macro} onRemove={state.removeMacro} />}
        <FileChooser ref={chooser} onFiles={addFiles} />
        {isOpen && <ComposerFoot state={state} isWeak={draft?.threshold != null} isBusy={isBusy} />}
      </div>
      {picker === "canned" && <CannedPicker ticket={ticket} onClose={closePicker} onPick={state.pickCanned} />}
      {picker === "emoji" && <EmojiPicker onClose={closePicker} onPick={(sign) => state.insert(sign)} />}
    </section>
  );
}
