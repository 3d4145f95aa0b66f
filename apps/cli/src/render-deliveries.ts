import type { DeliveryAttempt, DeliveryItem, DeliveryState } from "@svc/contracts";
import { renderFacts } from "./render-facts.ts";
import { renderTable } from "./render-table.ts";
import { safeLine } from "./safe-text.ts";
import type { Terminal } from "./terminal.ts";

const URL_CHARS = 120;

const second = (time: string) => `${time.slice(0, 19)}Z`;

const outcomeOf = ({ error, status }: DeliveryAttempt) =>
  error ?? (status === null ? "in progress" : `status ${status}`);

/** How often it was tried, how the last try ended, and when the next one is. */
function describeTries({ attempts, nextAt }: DeliveryItem): string {
  const last = attempts.at(-1);
  const next = nextAt === null ? "" : `; next attempt at ${second(nextAt)}`;
  if (last === undefined) return `no attempts yet${next}`;
  const tries = attempts.length === 1 ? "1 attempt" : `${attempts.length} attempts, the last`;
  return `${tries} at ${second(last.at)}: ${safeLine(outcomeOf(last))}${next}`;
}

/** Deliveries as a table: what each is, where it goes, and how its tries ended. */
export function renderDeliveries(items: readonly DeliveryItem[], { paint, width }: Terminal): string {
  const { green, yellow, red, dim } = paint;
  const states = { pending: yellow("pending"), delivered: green("delivered"), dead: red("dead") } satisfies Record<
    DeliveryState,
    string
  >;
  const rows = items.map((item) => [
    item.id,
    states[item.state],
    [`${item.type} of ${second(item.createdAt)}`, safeLine(item.url, URL_CHARS), dim(describeTries(item))].join("\n"),
  ]);
  return renderTable(["DELIVERY", "STATE", "CALLBACK AND ATTEMPTS"], rows, width);
}

/** One delivery as a person reads it, with every try. */
export function renderDelivery({
  id,
  type,
  state,
  url,
  ticketId,
  chatId,
  attempts,
  nextAt,
  createdAt,
}: DeliveryItem): string {
  const tries = attempts.map((attempt) => {
    const tookMs = attempt.ms === null ? "" : ` after ${attempt.ms} ms`;
    return `${second(attempt.at)}: ${safeLine(outcomeOf(attempt))}${tookMs}`;
  });
  return renderFacts([
    ["delivery", id],
    ["type", type],
    ["state", state],
    ["to", safeLine(url)],
    ["chat", safeLine(chatId)],
    ["ticket", ticketId],
    ["created", second(createdAt)],
    ["attempts", tries.length === 0 ? "none yet" : tries.join("\n")],
    ...(nextAt === null ? [] : [["next attempt", `at ${second(nextAt)}`] as const]),
  ]);
}
