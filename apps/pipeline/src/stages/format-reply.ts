import { makeReplyItems } from "../make-reply-items.ts";
import type { Run, StageContext } from "../run.ts";

/**
 * Returns whether a message's tables are sent as XLSX files: if its project wants them and, in the widget, if the settings
 * of the widget do too.
 */
export async function sendsTables({ store }: StageContext, { project, message }: Pick<Run, "project" | "message">) {
  if (!project.tablesAsXlsx || message.channelId !== "widget") return project.tablesAsXlsx;
  return (await store.channelsConfig.read()).widget.config.features.tables;
}

/** Makes the reply items of an answer that goes out: the text, and each Markdown table also as XLSX. */
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
