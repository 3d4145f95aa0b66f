import { REPLAY_LIMITS } from "@svc/contracts";
import type { ReplayInput, ReplayItem, ReplayResult } from "@svc/contracts";
import { summarizeReplay } from "@svc/operations";

/** What a replay in parts works with. */
interface ReplayInPartsOptions {
  /** Milliseconds for all parts together. */
  timeoutMs: number;
  /** Hears after each part how far it is. */
  onProgress: (done: number, total: number) => void;
}

const byTime = (one: ReplayItem, other: ReplayItem) => other.decidedAt.localeCompare(one.decidedAt);

type Usage = ReplayResult["summary"]["usage"]["before"];
const plus = (one: Usage, other: Usage): Usage => ({
  inputTokens: one.inputTokens + other.inputTokens,
  outputTokens: one.outputTokens + other.outputTokens,
});

/** Two parts of one replay as one; what is in both counts once, and its tokens as often as they were spent. */
function join(one: ReplayResult, other: ReplayResult, left: string[]): ReplayResult {
  const known = new Set(one.items.map(({ messageId }) => messageId));
  const items = [...one.items, ...other.items.filter(({ messageId }) => !known.has(messageId))].toSorted(byTime);
  const [first, second] = [one.summary.usage, other.summary.usage];
  return {
    ...one,
    items,
    summary: summarizeReplay(items, {
      before: plus(first.before, second.before),
      after: plus(first.after, second.after),
    }),
    isComplete: left.length === 0,
    notCompared: left.length,
    notComparedTicketIds: left,
  };
}

/**
 * A whole replay out of calls that each take a minute at most: what was not compared is asked for again until the time is
 * up. Where a call compares nothing, a single ticket is asked for, which has the model for itself; where that does not
 * help either, it ends with what there is.
 */
export async function replayInParts(
  ask: (input: ReplayInput) => Promise<ReplayResult>,
  input: ReplayInput,
  { timeoutMs, onProgress }: ReplayInPartsOptions,
): Promise<ReplayResult> {
  const deadline = performance.now() + timeoutMs;
  const left = () => Math.ceil(deadline - performance.now());
  const askWithin = (part: ReplayInput) =>
    ask({ ...part, timeoutMs: Math.max(1, Math.min(REPLAY_LIMITS.timeLimitMs, left())) });
  let result = await askWithin(input);
  let isAlone = false;
  let isStuck = result.items.length === 0;
  for (;;) {
    const { items, notCompared, notComparedTicketIds } = result;
    onProgress(items.length, items.length + notCompared);
    const [first] = notComparedTicketIds;
    if (first === undefined || left() <= 0 || (isStuck && isAlone)) return result;
    isAlone = isStuck;
    const wanted = new Set(isAlone ? [first] : notComparedTicketIds);
    const asked = notComparedTicketIds.filter((id) => wanted.has(id));
    const others = notComparedTicketIds.filter((id) => !wanted.has(id));
    // Of these tickets the newest so many were found at first: those that are left, and those that are compared.
    const limit = asked.length + items.filter(({ ticketId }) => wanted.has(ticketId)).length;
    const part = await askWithin({ ...input, limit, ticketIds: [...wanted] });
    const known = new Set(items.map(({ messageId }) => messageId));
    const isNew = part.items.some(({ messageId }) => !known.has(messageId));
    isStuck = !isNew && part.notCompared > 0;
    // What a part neither compares nor leaves is gone meanwhile.
    const stillLeft = part.notComparedTicketIds.slice(0, asked.length);
    result = join(result, part, [...stillLeft, ...others]);
  }
}
