import { makeReplyItems } from "../make-reply-items.ts";
import type { ReviewRun } from "../reviews/review-run.ts";
import type { StageContext } from "../stage-context.ts";

/** Makes the reply items of a text that a person sends: the text, and each Markdown table also as XLSX. */
export async function formatReview({ log }: StageContext, run: ReviewRun): Promise<void> {
  const { work, reviewId } = run.review;
  if (work.kind !== "send") return;
  const { text, markdown, sources } = work;
  run.replies = await makeReplyItems(
    { text, markdown, ...(work.author === "operator" ? {} : { sources }) },
    {
      tablesAsXlsx: run.project.tablesAsXlsx,
      warn: (warning: string, error?: unknown) => log.warn({ error, reviewId }, warning),
    },
  );
}
