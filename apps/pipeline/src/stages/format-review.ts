import { makeReplyItems } from "../make-reply-items.ts";
import type { ReviewRun } from "../reviews/review-run.ts";
import type { StageContext } from "../stage-context.ts";

/** Makes the reply items of what a person sends: the text, each Markdown table also as XLSX, and the files. */
export async function formatReview({ log, store }: StageContext, run: ReviewRun): Promise<void> {
  const { project, ticketId, work, reviewId } = run.review;
  if (work.kind !== "send") return;
  const { text, markdown, sources } = work;
  const items = await makeReplyItems(
    { text, markdown, ...(work.author === "operator" ? {} : { sources }) },
    {
      tablesAsXlsx: run.project.tablesAsXlsx,
      warn: (warning: string, error?: unknown) => log.warn({ error, reviewId }, warning),
    },
  );
  const files = await store.operatorFiles.read(project, ticketId, work.fileIds);
  if (files.length < work.fileIds.length) throw new Error("a file of the reply no longer exists");
  run.replies = [...items, ...files.map((file) => ({ type: "attachment" as const, ...file }))];
}
