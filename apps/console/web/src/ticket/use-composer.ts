import { useEffect, useImperativeHandle, useRef, useState } from "react";
import type { KeyboardEvent, Ref } from "react";
import { flushSync } from "react-dom";
import type { RenderedReply, TicketDetail } from "@svc/contracts";
import { useTexts } from "../i18n/texts.ts";
import { isTask } from "../inbox/describe-ticket.ts";
import { usePeople, useServices, useSession } from "../session/services.ts";
import type { Person } from "../session/services.ts";
import { isSure } from "./draft-bar.tsx";
import type { ShownDraft } from "./draft-bar.tsx";
import { findMention, mentionsIn } from "./find-mention.ts";
import { COMPOSE_MODES, describeChanges, hasText, isInTheWay, seenOf } from "./own-drafts.ts";
import type { ComposeMode, KeptFile, Macro, OwnDrafts } from "./own-drafts.ts";
import { useOwnDraft } from "./use-own-draft.ts";
import type { TicketActions } from "./use-ticket-actions.ts";

/** Lets commands open the composer. */
export interface ComposeTarget {
  open: (mode: ComposeMode) => void;
  /**
   * Focuses the field if something else is in it than the draft as it is: another text, or files. Returns false if
   * nothing else is.
   */
  focusOther: () => boolean;
}

/** What a composer works with. */
export interface ComposerProps {
  ref: Ref<ComposeTarget>;
  ticket: TicketDetail;
  /** The draft of the agent; null if there is none. */
  draft: ShownDraft | null;
  drafts: OwnDrafts;
  /** Sends the draft as it is, and resolves the ticket if that is asked for. Asks first if the draft is weak. */
  onApprove: (resolves: boolean) => void;
  actions: Pick<TicketActions, "act" | "reopenAfterReply">;
  isBusy: boolean;
  onTyping: (isTyping: boolean) => void;
  onSent: () => void;
  /** Opens the next ticket of the list. */
  onNext: () => void;
}

/** What follows a reply. */
export type AfterSend = "stay" | "next" | "resolve";

/** An operator who has not typed for this long is no longer shown as typing. */
const TYPING_MS = 4_000;
const NO_FILES: readonly KeptFile[] = [];
const SUGGESTIONS_MAX_COUNT = 6;

/** Returns a function that reports that the operator is typing, until they pause or it is called with false. */
function useTypingSignal(onTyping: (isTyping: boolean) => void) {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (isTyping: boolean, ends = true) => {
    onTyping(isTyping);
    clearTimeout(timer.current);
    if (ends) timer.current = setTimeout(() => onTyping(false), TYPING_MS);
  };
}

/** The people whom the word at the caret may mention, and the one that is selected. */
function useMentions(text: string, isNote: boolean) {
  const { people } = usePeople();
  // At the end of the text until the operator has been in it.
  const [seenCaret, setCaret] = useState<number | null>(null);
  const caret = seenCaret ?? text.length;
  const [picked, setPicked] = useState(0);
  /** Actors that were picked from the list, in case several have the same name. */
  const chosen = useRef<string[]>([]);
  const mention = isNote ? findMention(text, caret) : null;
  const word = mention?.word.toLowerCase() ?? "";
  const found =
    mention === null
      ? []
      : people.filter(({ isMe, name }) => !isMe && name.toLowerCase().includes(word)).slice(0, SUGGESTIONS_MAX_COUNT);
  return { people, caret, setCaret, picked, setPicked, chosen, mention, found };
}

/** Which kind of text the field has, and whether the draft of the agent stands in it as it is. */
function useStanding(
  { ticket, draft: shown }: ComposerProps,
  own: ReturnType<typeof useOwnDraft>,
  hasFocus: () => boolean,
) {
  // A text that was deleted does not come back by itself.
  const [isCleared, setCleared] = useState(false);
  const isBegun = own.text.trim() !== "";
  // A task has no customer who receives replies.
  const takesReplies = !isTask(ticket);
  const agentText = shown?.item.text ?? "";
  // A draft without text means that the agent found no answer: there is nothing to edit.
  const hasDraft = agentText.trim() !== "" && takesReplies;
  const wanted = own.mode ?? (shown !== null && isSure(shown) ? "edit" : "reply");
  const mode: ComposeMode = !takesReplies ? "note" : wanted === "edit" && !hasDraft ? "reply" : wanted;
  const isStanding = mode === "edit" && !isBegun && !isCleared;
  // The next draft stands in the field again, unless the operator is there.
  const name = shown === null ? null : shown.item.createdAt;
  const before = useRef(name);
  useEffect(() => {
    if (before.current === name) return;
    before.current = name;
    if (hasText(own.texts) || own.files.files.length > 0 || hasFocus()) return;
    own.setMode(null);
    setCleared(false);
  });
  // Without a draft, replies and edited drafts have one button: the other one returns to the field once that is empty.
  useEffect(() => {
    if (hasDraft || !takesReplies || own.mode === "note" || isBegun) return;
    const other = own.mode === "edit" ? "reply" : "edit";
    if (hasText(own.texts, [other])) own.choose(other);
  });
  const modes = [...(takesReplies ? ["reply" as const] : []), ...(hasDraft ? ["edit" as const] : []), "note" as const];
  return { isBegun, isStanding, setCleared, mode, modes, text: isStanding ? agentText : own.text };
}

/** What the composer of a ticket shows, and what its controls do. */
// oxlint-disable-next-line max-lines-per-function -- one state that all parts of the composer share
export function useComposer(props: ComposerProps) {
  const { ref, ticket, draft: shown, drafts, actions, isBusy, onApprove, onTyping, onSent, onNext } = props;
  const { me } = usePeople();
  const { signature } = useSession().operator;
  const area = useRef<HTMLTextAreaElement>(null);
  const notice = useRef<HTMLDivElement>(null);
  const draft = useOwnDraft(ticket, drafts);
  const { files, macro, setMacro, texts, seen, setSeen, isOwn } = draft;
  const standing = useStanding(props, draft, () => document.activeElement === area.current);
  const { isBegun, isStanding, mode, modes, setCleared, text } = standing;
  /** Kind of the text in the field. An edited draft remains one while the ticket has no draft, and is sent as a reply. */
  const kind = draft.mode ?? mode;
  const [wasOpened, setOpen] = useState(draft.hasStored);
  const isOpen = wasOpened || isStanding;
  const [isSending, setSending] = useState(false);
  const [isPreview, setPreview] = useState(false);
  const takesFiles = mode !== "note";
  const changes = isBegun ? describeChanges(seen, ticket, me) : [];
  const mentions = useMentions(text, mode === "note");
  const signalTyping = useTypingSignal(onTyping);
  // A draft that does not answer the latest message is edited before it is sent.
  const isReady = isBegun || (isStanding && shown?.item.isStale === false);

  /** Shows another kind of text, except while the present one is sent. */
  const choose = (next: ComposeMode) => {
    if (!isSending) draft.choose(next);
  };
  function write(next: string) {
    if (isSending) return;
    if (!isBegun && !hasText(texts, ["reply", "edit"])) setSeen(seenOf(ticket));
    draft.write(isBegun ? kind : mode, next);
    setCleared(next.trim() === "");
    // A text that replaces a canned reply has none of its actions.
    if (next.trim() === "" && mode !== "note") setMacro(null);
    // Visitors see that somebody is writing; a note is not for them.
    signalTyping(next.trim() !== "" && mode !== "note");
  }
  const focus = () => {
    area.current?.focus();
    // A dialog that closes now returns the focus to the element that had it before.
    requestAnimationFrame(() => area.current?.focus());
  };
  /** Inserts words at the caret, or in place of the text from `at` on. */
  function insert(words: string, at = mentions.caret) {
    // The caret is behind the words before the next key arrives.
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
    mode,
    approve: isStanding && macro === null && files.files.length === 0 ? onApprove : null,
    signature,
    changes,
    mentions,
    notice,
    ticketId: ticket.id,
    isReady: isReady && !isBusy && !isSending,
    setSending,
    onSent() {
      signalTyping(false, false);
      // The keys are commands again.
      area.current?.blur();
      setPreview(false);
      setOpen(false);
      // A note leaves the reply as it is.
      if (takesFiles) setMacro(null);
      onSent();
    },
    onNext,
  });
  useImperativeHandle(ref, () => ({
    open(next) {
      // The field has the focus before the next key arrives, which would be a command elsewhere.
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
    focusOther() {
      // The text in whose place the draft would be sent; a note is none.
      const other = (["edit", "reply"] as const).find(
        (name) => name !== kind && (name === "edit" || mode === "note") && hasText(texts, [name]),
      );
      const isOther = isBegun || macro !== null || (mode === "edit" && !isStanding);
      if (other === undefined && (mode === "note" || !(isOther || files.files.length > 0))) return false;
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
    /** Kinds of the texts that are begun and not shown. */
    asideModes: COMPOSE_MODES.filter((name) => name !== kind && hasText(texts, [name])),
    mode,
    modes,
    takesFiles,
    /** What is added to the text when it is sent; empty for none. */
    signature: mode === "reply" ? signature : "",
    changes,
    mentions,
    isOpen,
    /** Opens or folds the field. The kind of text is from then on the operator's choice. */
    setOpen: (isShown: boolean) => {
      if (isShown) draft.setMode((chosen) => chosen ?? mode);
      setOpen(isShown);
    },
    isSending,
    isBegun,
    /** True while the draft of the agent is in the field as it is. */
    isStanding,
    /** True if there is something that can be sent. */
    isReady,
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
      isOwn.current = true;
      setSeen(seenOf(ticket));
      focus();
    },
    addFiles: (added: readonly File[]) => {
      if (isSending) return;
      isOwn.current = true;
      draft.setMode(isBegun ? kind : mode);
      setOpen(true);
      files.add(added);
    },
    removeFile: (key: number) => {
      isOwn.current = true;
      files.remove(key);
    },
    insert,
    macro,
    removeMacro: () => {
      isOwn.current = true;
      setMacro(null);
    },
    pickCanned: ({ text: words, actions, resolves }: RenderedReply) => {
      insert(words);
      if (resolves || Object.keys(actions).length > 0) setMacro({ actions, resolves });
    },
  };
}
export type ComposerState = ReturnType<typeof useComposer>;

/** What sending needs. */
interface SendOptions {
  actions: Pick<TicketActions, "act" | "reopenAfterReply">;
  draft: ReturnType<typeof useOwnDraft>;
  /** What is in the field. */
  text: string;
  /** Sends the draft of the agent as it is; null if something else is in the field. */
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
 * Returns a reply with a signature below it, as it is sent. An edited draft has none: what was changed in it is proposed for
 * the knowledge base.
 */
export const signedText = (text: string, signature: string): string =>
  signature === "" ? text : `${text.trimEnd()}\n\n${signature}`;

/** Returns a function that sends the text, unless a file has failed or the ticket has changed since it was begun. */
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
    const shown = { ...others, ...(resolves || snooze === undefined ? {} : { snooze }) };
    const withFiles = {
      ...(attachments.length === 0 ? {} : { attachments }),
      ...(resolves ? { resolves } : {}),
      ...(Object.keys(shown).length === 0 ? {} : { actions: shown }),
    };
    const telling = resolves
      ? { done: t("done.replyResolve"), undo: () => void reopenAfterReply() }
      : { done: t("done.reply") };
    if (mode === "note") {
      const input = { text, ...mentionsIn(text, mentions.people, mentions.chosen.current) };
      return act("note", input, { version: null, done: t("done.note") });
    }
    if (mode === "edit") return act("edit", { text, ...withFiles }, telling);
    return act("reply", { text: signedText(text, signature), markdown: true, ...withFiles }, telling);
  }
  function reject(message: string) {
    toasts.show({ kind: "error", text: message });
  }
  return async function send(after: AfterSend = "stay"): Promise<void> {
    if (!isReady) return;
    if (takesFiles && files.isSending) return reject(t("compose.uploading"));
    if (approve !== null) return approve(after === "resolve");
    if (takesFiles && files.hasFailed) return reject(t("compose.failedFile"));
    if (takesFiles && isInTheWay(changes)) {
      notice.current?.focus();
      return reject(t("conflict.toast"));
    }
    // Text that is typed meanwhile would be deleted with the text that is sent.
    setSending(true);
    const isSent = await post(after);
    setSending(false);
    // Text that could not be sent is kept.
    if (!isSent) return;
    // Texts of other kinds are not sent with it; an edited draft ends with the draft.
    const left = { ...draft.texts, [draft.mode ?? mode]: "", ...(takesFiles ? { edit: "" } : {}) };
    draft.isOwn.current = hasText(left) || (!takesFiles && files.files.length > 0);
    if (!draft.isOwn.current) drafts.forget(ticketId);
    mentions.chosen.current = [];
    // The files of a reply are not sent with a note: they stay for the reply.
    if (takesFiles) files.replace(NO_FILES);
    draft.setTexts(left);
    draft.setMode("reply");
    onSent();
    if (after !== "stay") onNext();
  };
}

/** Returns the handler of keys in the composer's field. */
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
