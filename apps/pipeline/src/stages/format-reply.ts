import type { ReplyDraft, Source } from "@svc/contracts";
import type { Run, StageContext } from "../run.ts";
import { tableAttachments } from "../xlsx/table-attachments.ts";

/** An answer of the answer stage or an operator. */
interface WrittenAnswer {
  text: string;
  markdown: boolean;
  sources?: Source[];
}

/**
 * Returns whether the tables of a reply are also sent as XLSX files: if its project enables it and, in the widget, if the
 * widget's settings do, too.
 */
async function sendsTables({ store }: StageContext, { project, message }: Pick<Run, "project" | "message">) {
  if (!project.tablesAsXlsx || message.channelId !== "widget") return project.tablesAsXlsx;
  return (await store.channelsConfig.read()).widget.config.features.tables;
}

/**
 * Returns the items of the reply with this answer: first the message, unchanged, then each table of a Markdown answer as
 * an XLSX file, if they are sent.
 */
export async function makeReplyItems(
  context: StageContext,
  run: Pick<Run, "project" | "message">,
  { text, markdown, sources }: WrittenAnswer,
): Promise<ReplyDraft[]> {
  const message = { type: "message" as const, text, markdown, ...(sources === undefined ? {} : { sources }) };
  if (!markdown || !text.includes("|") || !(await sendsTables(context, run))) return [message];
  const { messageId } = run.message;
  const attachments = await tableAttachments(text, (reason, error) => context.log.warn({ error, messageId }, reason));
  return [message, ...attachments];
}

/** Makes the reply items of an answer that is sent: the text, and each Markdown table also as XLSX. */
export async function formatReply(context: StageContext, run: Run): Promise<void> {
  const { answer, gate } = run;
  if (gate?.sends !== true || answer?.text == null) return;
  const { text, markdown, sources } = answer;
  run.replies = await makeReplyItems(context, run, { text, markdown, sources });
}
