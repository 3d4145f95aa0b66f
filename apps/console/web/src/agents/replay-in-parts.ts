import type { ReplayInput, ReplayItem, ReplayResult } from "@svc/contracts";

/** How far a replay is: what was compared, the newest first, and what is left of it. */
export interface Replay {
  items: readonly ReplayItem[];
  /** Tickets of the replies that are left, one for each. */
  left: readonly string[];
  usage: ReplayResult["summary"]["usage"];
}

/** So long each part takes at most, so that it is seen how far the whole is. */
const PART_MS = 12_000;

const byTime = (one: ReplayItem, other: ReplayItem) => other.decidedAt.localeCompare(one.decidedAt);

function addUsage(one: Replay["usage"], other: Replay["usage"]): Replay["usage"] {
  const sum = (side: "before" | "after") => ({
    inputTokens: one[side].inputTokens + other[side].inputTokens,
    outputTokens: one[side].outputTokens + other[side].outputTokens,
  });
  return { before: sum("before"), after: sum("after") };
}

/**
 * Plays past tickets again in calls that are short, and tells after each how far it is. Ends when all are compared, or
 * when not even a single ticket is compared in the time that a call has. Throws what `ask` throws.
 */
export async function* replayInParts(
  ask: (input: ReplayInput) => Promise<ReplayResult>,
  input: ReplayInput,
): AsyncGenerator<Replay, void, undefined> {
  const first = await ask({ ...input, timeoutMs: PART_MS });
  let replay: Replay = { items: first.items, left: first.notComparedTicketIds, usage: first.summary.usage };
  yield replay;
  let isStuck = first.items.length === 0;
  let isAlone = false;
  while (replay.left.length > 0 && !(isStuck && isAlone)) {
    const { items, left, usage } = replay;
    // A ticket by itself has the model, and the whole time, for itself.
    isAlone = isStuck;
    const wanted = new Set(isAlone ? left.slice(0, 1) : left);
    const asked = left.filter((id) => wanted.has(id));
    const others = left.filter((id) => !wanted.has(id));
    // These tickets hold what is left and what is compared already.
    const limit = asked.length + items.filter(({ ticketId }) => wanted.has(ticketId)).length;
    const part = await ask({
      ...input,
      limit,
      ticketIds: [...wanted],
      ...(isAlone ? {} : { timeoutMs: PART_MS }),
    });
    const known = new Set(items.map(({ messageId }) => messageId));
    const added = part.items.filter(({ messageId }) => !known.has(messageId));
    isStuck = added.length === 0 && part.notCompared > 0;
    replay = {
      items: [...items, ...added].toSorted(byTime),
      // What is neither compared nor left is gone meanwhile.
      left: [...part.notComparedTicketIds.slice(0, asked.length), ...others],
      usage: addUsage(usage, part.summary.usage),
    };
    yield replay;
  }
}
