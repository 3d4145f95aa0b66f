import type { ReplyAuthor, Source } from "@svc/contracts";

/** A message that waits for a person: held by the gate, or a dead letter. */
export interface WaitingMessage {
  id: string;
  state: "held" | "failed";
}

/** A text that the pipeline sends for a person. */
export interface SendWork {
  kind: "send";
  author: ReplyAuthor;
  text: string;
  markdown: boolean;
  sources: Source[];
  /** Files that operators have handed in for it, in their order. */
  fileIds: string[];
  /** Ids of the messages that it answers. */
  covers: string[];
  /** By whose way it goes: the newest of those, else the chat's newest; null when no message is kept. */
  answers: string | null;
}

/** A draft that the pipeline makes anew: an answer to each of these messages, of which `answers` is the newest. */
export interface DraftWork {
  kind: "draft";
  covers: string[];
  answers: string;
}

/** The columns of a row of `reviews` that say what is to be done. */
export interface WorkRow {
  kind: "send" | "draft";
  author: ReplyAuthor | null;
  text: string | null;
  markdown: boolean | null;
  sources: Source[] | null;
  fileIds: string[];
  answersMessageId: string | null;
  covers: string[];
}

/** What a row of `reviews` asks for. */
export function asWork(row: WorkRow): SendWork | DraftWork {
  const { covers, answersMessageId: answers } = row;
  if (row.kind === "draft") return { kind: "draft", covers, answers: answers ?? "" };
  return {
    kind: "send",
    author: row.author ?? "operator",
    text: row.text ?? "",
    markdown: row.markdown ?? false,
    sources: row.sources ?? [],
    fileIds: row.fileIds,
    covers,
    answers,
  };
}
