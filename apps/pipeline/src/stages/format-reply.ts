import { makeReplyItems } from "../make-reply-items.ts";
import type { Run, StageContext } from "../run.ts";

/** Makes the reply items of an answer that is sent: the text, and each Markdown table also as XLSX. */
export async function formatReply({ log }: StageContext, run: Run): Promise<void> {
  const { answer, gate, message } = run;
  if (gate?.sends !== true || answer?.text == null) return;
  run.replies = await makeReplyItems(
    { text: answer.text, markdown: answer.markdown, sources: answer.sources },
    {
      tablesAsXlsx: run.project.tablesAsXlsx,
      warn: (text: string, error?: unknown) => log.warn({ error, messageId: message.messageId }, text),
    },
  );
}
