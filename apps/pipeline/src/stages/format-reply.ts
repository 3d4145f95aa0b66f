import { makeReplyItems } from "../make-reply-items.ts";
import type { Run, StageContext } from "../run.ts";

/**
 * Returns whether the tables of a reply are also sent as XLSX files: if its project enables it and, in the widget, if the
 * widget's settings do, too.
 */
export async function sendsTables({ store }: StageContext, { project, message }: Pick<Run, "project" | "message">) {
  if (!project.tablesAsXlsx || message.channelId !== "widget") return project.tablesAsXlsx;
  return (await store.channelsConfig.read()).widget.config.features.tables;
}

/** Makes the reply items of an answer that is sent: the text, and each Markdown table also as XLSX. */
export async function formatReply(context: StageContext, run: Run): Promise<void> {
  const { answer, gate, message } = run;
  if (gate?.sends !== true || answer?.text == null) return;
  run.replies = await makeReplyItems(
    { text: answer.text, markdown: answer.markdown, sources: answer.sources },
    {
      sendsTables: () => sendsTables(context, run),
      warn: (text: string, error?: unknown) => context.log.warn({ error, messageId: message.messageId }, text),
    },
  );
}
