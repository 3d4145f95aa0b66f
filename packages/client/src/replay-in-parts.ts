import type { ReplayInput, ReplayItem, ReplayResult } from "@svc/contracts";

/** Progress of a replay in parts. */
export interface ReplayProgress {
  /** The result of the first part, which names the agents. */
  first: ReplayResult;
  /** Replies that were compared, newest first. */
  items: readonly ReplayItem[];
  /** Tickets of the replies that were not compared yet, one for each reply. */
  left: readonly string[];
  /** Tokens of language models that all parts have used. */
  usage: ReplayResult["summary"]["usage"];
}

const byTime = (one: ReplayItem, other: ReplayItem) => other.decidedAt.localeCompare(one.decidedAt);

function addUsage(one: ReplayProgress["usage"], other: ReplayProgress["usage"]): ReplayProgress["usage"] {
  const sum = (side: "before" | "after") => ({
    inputTokens: one[side].inputTokens + other[side].inputTokens,
    outputTokens: one[side].outputTokens + other[side].outputTokens,
  });
  return { before: sum("before"), after: sum("after") };
}

/**
 * Compares past replies in calls of `replayAgent`, each with a time limit of its own, and yields the progress after each
 * call. `timeoutOf` returns the limit in milliseconds, or undefined for the longest one; `isAlone` is true for a call with a
 * single ticket, which follows a call that compared nothing. Ends when all replies are compared, or when not even a single
 * ticket was compared. Throws what `ask` throws.
 */
export async function* replayInParts(
  ask: (input: ReplayInput) => Promise<ReplayResult>,
  input: ReplayInput,
  timeoutOf: (isAlone: boolean) => number | undefined,
): AsyncGenerator<ReplayProgress, void, undefined> {
  const askWithin = (part: ReplayInput, isAlone: boolean) => {
    const timeoutMs = timeoutOf(isAlone);
    return ask(timeoutMs === undefined ? part : { ...part, timeoutMs });
  };
  const first = await askWithin(input, false);
  let progress: ReplayProgress = {
    first,
    items: first.items,
    left: first.notComparedTicketIds,
    usage: first.summary.usage,
  };
  yield progress;
  let isStuck = first.items.length === 0;
  let isAlone = false;
  while (progress.left.length > 0 && !(isStuck && isAlone)) {
    const { items, left, usage } = progress;
    // A single ticket has the model and the whole time for itself.
    isAlone = isStuck;
    const wanted = new Set(isAlone ? left.slice(0, 1) : left);
    const asked = left.filter((id) => wanted.has(id));
    const others = left.filter((id) => !wanted.has(id));
    // These tickets have replies that are left and replies that are already compared.
    const limit = asked.length + items.filter(({ ticketId }) => wanted.has(ticketId)).length;
    const part = await askWithin({ ...input, limit, ticketIds: [...wanted] }, isAlone);
    const known = new Set(items.map(({ messageId }) => messageId));
    const added = part.items.filter(({ messageId }) => !known.has(messageId));
    isStuck = added.length === 0 && part.notCompared > 0;
    progress = {
      first,
      items: [...items, ...added].sort(byTime),
      // Replies that are neither compared nor left were deleted in the meantime.
      left: [...part.notComparedTicketIds.slice(0, asked.length), ...others],
      usage: addUsage(usage, part.summary.usage),
    };
    yield progress;
  }
}
