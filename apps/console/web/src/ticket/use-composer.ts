import { useEffect, useImperativeHandle, useRef, useState } from "react";
import type { KeyboardEvent, Ref } from "react";
import { flushSync } from "react-dom";
import type { RenderedReply, TicketDetail } from "@svc/contracts";
import { useTexts } from "../i18n/texts.ts";
import { isTask } from "../inbox/describe-ticket.ts";
import { usePeople, useServices, useSession } from "../session/services.ts";
import type { Person } from "../session/services.ts";
import { fold } from "../ui/find-text.ts";
import { isReadyToSend } from "./draft-bar.tsx";
import type { ShownDraft } from "./draft-bar.tsx";
import { COMPOSE_MODES, describeChanges, findMention, hasText, mentionsIn, mustBeSeen, seenOf } from "./own-drafts.ts";
import type { ComposeMode, DraftFile, Macro, OwnDrafts } from "./own-drafts.ts";
import { useOwnDraft } from "./use-own-draft.ts";
import type { TicketActions } from "./use-ticket-actions.ts";

/** Methods of the composer that commands call. */
export interface ComposeTarget {
  open: (mode: ComposeMode) => void;
  /** Focuses the field if it has another text than the unedited draft, or files. Otherwise returns false. */
  focusUnsent: () => boolean;
}

/** Properties of the composer. */
export interface ComposerProps {
  ref: Ref<ComposeTarget>;
  ticket: TicketDetail;
  /** The draft of the agent; null if there is none. */
  draft: ShownDraft | null;
  drafts: OwnDrafts;
  /** Sends the unedited draft, and optionally resolves the ticket. Asks for confirmation if the draft is weak. */
  onApprove: (resolves: boolean) => void;
  actions: Pick<TicketActions, "act" | "reopenAfterReply">;
  isBusy: boolean;
  onTyping: (isTyping: boolean) => void;
  onSent: () => void;
  /** Opens the next ticket of the list. */
  onNext: () => void;
}

/** Action after a reply. */
export type AfterSend = "stay" | "next" | "resolve";

/** Time after the last key press during which the operator is shown as typing. */
const TYPING_MS = 4_000;
const NO_FILES: readonly DraftFile[] = [];
const SUGGESTIONS_MAX_COUNT = 6;

/** Returns a function that reports typing, until the operator pauses or it is called with false. */
function useTypingSignal(onTyping: (isTyping: boolean) => void) {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (isTyping: boolean, ends = true) => {
    onTyping(isTyping);
    clearTimeout(timer.current);
    if (ends) timer.current = setTimeout(() => onTyping(false), TYPING_MS);
  };
}

/** Returns the people whom the word at the caret may mention, and the selected one. */
function useMentions(text: string, isNote: boolean) {
  const { people } = usePeople();
  // The end of the text until the operator has placed the caret.
  const [placedCaret, setCaret] = useState<number | null>(null);
  const caret = placedCaret ?? text.length;
  const [picked, setPicked] = useState(0);
  /** Actors that were picked from the list, because several people may have the same name. */
  const chosen = useRef<string[]>([]);
  const mention = isNote ? findMention(text, caret) : null;
  const word = fold(mention?.word ?? "");
  const found =
    mention === null
      ? []
      : people.filter(({ isMe, name }) => !isMe && fold(name).includes(word)).slice(0, SUGGESTIONS_MAX_COUNT);
  return { people, caret, setCaret, picked, setPicked, chosen, mention, found };
}

/** Returns the kind and the text of the field, and whether that is the unedited draft of the agent. */
function useField(
  { ticket, draft: shown }: ComposerProps,
  own: ReturnType<typeof useOwnDraft>,
  hasFocus: () => boolean,
) {
  // A draft that the operator has deleted is not shown again.
  const [isCleared, setCleared] = useState(false);
  const isBegun = own.text.trim() !== "";
  // A task has no customer who receives replies.
  const takesReplies = !isTask(ticket);
  const agentText = shown?.item.text ?? "";
  // A draft without text means that the agent found no answer: there is nothing to edit.
  const hasDraft = agentText.trim() !== "" && takesReplies;
  const wanted = own.mode ?? (shown !== null && isReadyToSend(shown) ? "edit" : "reply");
  const mode: ComposeMode = !takesReplies ? "note" : wanted === "edit" && !hasDraft ? "reply" : wanted;
  const showsDraft = mode === "edit" && !isBegun && !isCleared;
  // A new draft is shown in the field, unless the operator is writing.
  const createdAt = shown === null ? null : shown.item.createdAt;
  const before = useRef(createdAt);
  useEffect(() => {
    if (before.current === createdAt) return;
    before.current = createdAt;
    if (hasText(own.texts) || own.files.files.length > 0 || hasFocus()) return;
    own.setMode(null);
    setCleared(false);
  });
  // Without a draft, replies and edited drafts share a button: if the field is empty, it shows the other text.
  useEffect(() => {
    if (hasDraft || !takesReplies || own.mode === "note" || isBegun) return;
    const other = own.mode === "edit" ? "reply" : "edit";
    if (hasText(own.texts, [other])) own.choose(other);
  });
  const modes = [...(takesReplies ? ["reply" as const] : []), ...(hasDraft ? ["edit" as const] : []), "note" as const];
  return { isBegun, showsDraft, setCleared, mode, modes, text: showsDraft ? agentText : own.text };
}

/** Returns the state of the composer of a ticket, and the handlers of its controls. */
// oxlint-disable-next-line max-lines-per-function -- One state that all parts of the composer share.
export function useComposer(props: ComposerProps) {
  const { ref, ticket, draft: shown, drafts, actions, isBusy, onApprove, onTyping, onSent, onNext } = props;
  const { me } = usePeople();
  const { signature } = useSession().operator;
  const area = useRef<HTMLTextAreaElement>(null);
  const notice = useRef<HTMLDivElement>(null);
  const draft = useOwnDraft(ticket, drafts);
  const { files, macro, setMacro, texts, seen, setSeen, isDirty } = draft;
  const field = useField(props, draft, () => document.activeElement === area.current);
  const { isBegun, showsDraft, mode, modes, setCleared, text } = field;
  /** Kind of the text in the field. If the ticket has no draft any more, an edited draft is sent as a reply. */
  const kind = draft.mode ?? mode;
  const [wasOpened, setOpen] = useState(draft.hasStored);
  const isOpen = wasOpened || showsDraft;
  const [isSending, setSending] = useState(false);
  const [isPreview, setPreview] = useState(false);
  const takesFiles = mode !== "note";
  const hasFiles = takesFiles && files.files.length > 0;
  const changes = isBegun || hasFiles ? describeChanges(seen, ticket, me) : [];
  const mentions = useMentions(text, mode === "note");
  const signalTyping = useTypingSignal(onTyping);
  const sendsFilesOnly = hasFiles && !isBegun && !showsDraft;
  // A draft that does not answer the latest message cannot be sent unedited.
  const isReady = isBegun || sendsFilesOnly || (showsDraft && shown?.item.isStale === false);

  /** Shows the text of another kind, except while a text is being sent. */
  const choose = (next: ComposeMode) => {
    if (!isSending) draft.choose(next);
  };
  /** The first text or file of a reply is about the ticket as it is shown now. */
  const begin = () => {
    if (!isBegun && !hasText(texts, ["reply", "edit"]) && files.files.length === 0) setSeen(seenOf(ticket));
  };
  function write(next: string) {
    if (isSending) return;
    begin();
    draft.write(isBegun ? kind : mode, next);
    setCleared(next.trim() === "");
    // Deleting the text also discards the actions of its canned reply.
    if (next.trim() === "" && mode !== "note") setMacro(null);
    // Customers see that an operator is typing, but not for a note.
    signalTyping(next.trim() !== "" && mode !== "note");
  }
  const focus = () => {
    area.current?.focus();
    // A dialog that closes now returns the focus to the element that had it before.
    requestAnimationFrame(() => area.current?.focus());
  };
  /** Inserts words at the caret, replacing the text between `at` and the caret. */
  function insert(words: string, at = mentions.caret) {
    // Synchronous, so that the caret is behind the words before the next key press.
    flushSync(() => write(text.slice(0, at) + words + text.slice(mentions.caret)));
    const end = at + words.length;
    mentions.setCaret(end);
    const focusEnd = () => {
      area.current?.focus();
      area.current?.setSelectionRange(end, end);
    };
    focusEnd();
    // A dialog that closes now returns the focus to the element that had it before.
    requestAnimationFrame(() => document.activeElement !== area.current && focusEnd());
  }
  const send = useSend({
    actions,
    draft,
    text,
    macro,
    drafts,
    // Without a text, files are a reply: there is nothing to send in place of the draft.
    mode: sendsFilesOnly ? "reply" : mode,
    approve: showsDraft && macro === null && files.files.length === 0 ? onApprove : null,
    signature,
    changes,
    mentions,
    notice,
    ticketId: ticket.id,
    isReady: isReady && !isBusy && !isSending,
    setSending,
    onSent() {
      signalTyping(false, false);
      // Without the focus, keys are commands again.
      area.current?.blur();
      setPreview(false);
      setOpen(false);
      // Sending a note does not change the reply.
      if (takesFiles) setMacro(null);
      onSent();
    },
    onNext,
  });
  useImperativeHandle(ref, () => ({
    open(next) {
      // Synchronous, because the next key press would be a command if the field did not have the focus.
      flushSync(() => {
        choose(next);
        setOpen(true);
        setPreview(false);
        setCleared(false);
      });
      const end = area.current?.value.length ?? 0;
      area.current?.setSelectionRange(end, end);
      mentions.setCaret(end);
      focus();
    },
    focusUnsent() {
      // An unsent text that approving the draft would leave behind; notes do not count.
      const other = (["edit", "reply"] as const).find(
        (name) => name !== kind && (name === "edit" || mode === "note") && hasText(texts, [name]),
      );
      const isEdited = isBegun || macro !== null || (mode === "edit" && !showsDraft);
      if (other === undefined && (mode === "note" || !(isEdited || files.files.length > 0))) return false;
      flushSync(() => {
        if (other !== undefined) choose(other);
        setOpen(true);
        setPreview(false);
      });
      focus();
      return true;
    },
  }));
  return {
    area,
    notice,
    files,
    text,
    /** Kinds of the unsent texts that are not shown. */
    unsentModes: COMPOSE_MODES.filter((name) => name !== kind && hasText(texts, [name])),
    mode,
    modes,
    takesFiles,
    /** Signature that is appended when the text is sent; may be empty. */
    signature: mode === "reply" ? signature : "",
    changes,
    mentions,
    isOpen,
    /** Expands or collapses the field. From then on, the kind of text changes only by the operator's choice. */
    setOpen: (isShown: boolean) => {
      if (isShown) draft.setMode((chosen) => chosen ?? mode);
      setOpen(isShown);
    },
    isSending,
    isBegun,
    /** True while the unedited draft of the agent is in the field. */
    showsDraft,
    /** True if the text or the files can be sent. */
    isReady,
    /** True while there are files and no text. */
    sendsFilesOnly,
    isPreview,
    togglePreview: () => setPreview((isShown) => !isShown),
    write,
    focus,
    send,
    signalTyping,
    choose: (next: ComposeMode) => {
      choose(next);
      setOpen(true);
      setCleared(false);
      focus();
    },
    acceptChanges: () => {
      isDirty.current = true;
      setSeen(seenOf(ticket));
      focus();
    },
    addFiles: (added: readonly File[]) => {
      if (isSending) return;
      begin();
      isDirty.current = true;
      draft.setMode(isBegun ? kind : mode);
      setOpen(true);
      files.add(added);
    },
    removeFile: (key: number) => {
      isDirty.current = true;
      files.remove(key);
    },
    insert,
    macro,
    removeMacro: () => {
      isDirty.current = true;
      setMacro(null);
    },
    pickCanned: ({ text: words, actions, resolves }: RenderedReply) => {
      insert(words);
      if (resolves || Object.keys(actions).length > 0) setMacro({ actions, resolves });
    },
  };
}
export type ComposerState = ReturnType<typeof useComposer>;

/** Options of `useSend`. */
interface SendOptions {
  actions: Pick<TicketActions, "act" | "reopenAfterReply">;
  draft: ReturnType<typeof useOwnDraft>;
  /** Text of the field. */
  text: string;
  /** Sends the unedited draft of the agent; null if the field has another text. */
  approve: ((resolves: boolean) => void) | null;
  drafts: OwnDrafts;
  macro: Macro | null;
  mode: ComposeMode;
  signature: string;
  changes: ReturnType<typeof describeChanges>;
  mentions: ReturnType<typeof useMentions>;
  notice: { current: HTMLDivElement | null };
  ticketId: string;
  isReady: boolean;
  setSending: (isSending: boolean) => void;
  onSent: () => void;
  onNext: () => void;
}

/**
 * Returns a reply with the signature, as it is sent. Edited drafts have no signature, because the edit is proposed for
 * the knowledge base; files alone have none either.
 */
export const signedText = (text: string, signature: string): string =>
  signature === "" || text.trim() === "" ? text : `${text.trimEnd()}\n\n${signature}`;

/** Returns a function that sends the text, unless an upload has failed or there are unseen changes of the ticket. */
function useSend(options: SendOptions) {
  const { t } = useTexts();
  const { toasts } = useServices();
  const { actions, approve, draft, drafts, macro, mode, signature, changes, mentions, notice, ticketId, isReady } =
    options;
  const { setSending, onSent, onNext, text } = options;
  const { act, reopenAfterReply } = actions;
  const { files } = draft;
  const takesFiles = mode !== "note";

  function post(after: AfterSend): Promise<boolean> {
    const { attachments } = files;
    const resolves = after === "resolve" || macro?.resolves === true;
    const { snooze, ...others } = macro?.actions ?? {};
    // A ticket that is resolved with the reply is not snoozed.
    const macroActions = { ...others, ...(resolves || snooze === undefined ? {} : { snooze }) };
    const additions = {
      ...(attachments.length === 0 ? {} : { attachments }),
      ...(resolves ? { resolves } : {}),
      ...(Object.keys(macroActions).length === 0 ? {} : { actions: macroActions }),
    };
    const feedback = resolves
      ? { done: t("done.replyResolve"), undo: () => void reopenAfterReply() }
      : { done: t("done.reply") };
    if (mode === "note") {
      const input = { text, ...mentionsIn(text, mentions.people, mentions.chosen.current) };
      return act("note", input, { version: null, done: t("done.note") });
    }
    if (mode === "edit") return act("edit", { text, ...additions }, feedback);
    return act("reply", { text: signedText(text, signature), markdown: true, ...additions }, feedback);
  }
  function showError(message: string) {
    toasts.show({ kind: "error", text: message });
  }
  return async function send(after: AfterSend = "stay"): Promise<void> {
    if (!isReady) return;
    if (takesFiles && files.isSending) return showError(t("compose.uploading"));
    if (approve !== null) return approve(after === "resolve");
    if (takesFiles && files.hasFailed) return showError(t("compose.failedFile"));
    if (takesFiles && mustBeSeen(changes)) {
      notice.current?.focus();
      return showError(t("conflict.toast"));
    }
    // Blocks the field: text that is typed now would be deleted after sending.
    setSending(true);
    const isSent = await post(after);
    setSending(false);
    // If sending failed, the text stays in the field.
    if (!isSent) return;
    // Unsent texts of other kinds stay; an edited draft ends with the draft.
    const remaining = { ...draft.texts, [draft.mode ?? mode]: "", ...(takesFiles ? { edit: "" } : {}) };
    draft.isDirty.current = hasText(remaining) || (!takesFiles && files.files.length > 0);
    if (!draft.isDirty.current) drafts.remove(ticketId);
    mentions.chosen.current = [];
    // A note has no files: those of the reply stay.
    if (takesFiles) files.replace(NO_FILES);
    draft.setTexts(remaining);
    draft.setMode("reply");
    onSent();
    if (after !== "stay") onNext();
  };
}

/** Returns the key handler of the composer's field. */
export function useComposerKeys(state: ComposerState, openPicker: () => void, mentionPerson: (person: Person) => void) {
  const { area, isBegun, mentions, mode, send, setOpen, text } = state;
  const { found, picked, setPicked } = mentions;
  return (event: KeyboardEvent) => {
    const { key } = event;
    const isMentionKey = found.length > 0 && ["ArrowDown", "ArrowUp", "Enter", "Tab"].includes(key);
    if (isMentionKey) {
      const by = key === "ArrowDown" ? 1 : key === "ArrowUp" ? -1 : 0;
      const person = found[picked % found.length];
      if (by === 0 && person !== undefined) mentionPerson(person);
      else setPicked((now) => (now + by + found.length) % found.length);
    } else if (key === "Enter" && (event.ctrlKey || event.metaKey)) {
      void send(mode === "note" ? "stay" : event.shiftKey ? "resolve" : event.altKey ? "next" : "stay");
    } else if (key === "Escape") {
      area.current?.blur();
      if (!isBegun) setOpen(false);
    } else if (key === "/" && text === "" && mode !== "note") openPicker();
    else return;
    event.preventDefault();
  };
}
