import type { QueueHealth } from "@svc/contracts";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useTexts } from "../i18n/texts.ts";
import type { TextKey } from "../i18n/texts.ts";
import { useServices, useProject, useRights } from "../session/services.ts";
import { Ago, useNow } from "../ui/ago.tsx";
import { Badge } from "../ui/badge.tsx";
import type { Tone } from "../ui/badge.tsx";
import { ErrorNotice, Skeleton } from "../ui/notice.tsx";
import { Section } from "../ui/page-frame.tsx";
import { queuesQuery } from "./overview-search.ts";

/** State of a queue: good, with a delay, or with failed items that need attention. */
type QueueState = "good" | "slow" | "failed";

/** Due items that wait longer than this count as delayed. */
const SLOW_MS = 60_000;

/** Returns the state of a queue at this time. Failures take precedence over delays. */
function stateOfQueue({ failed, oldestDueAt }: QueueHealth, nowMs: number): QueueState {
  if (failed > 0) return "failed";
  return oldestDueAt !== null && nowMs - Date.parse(oldestDueAt) > SLOW_MS ? "slow" : "good";
}

const STATES = {
  good: { tone: "ok", text: "queue.good" },
  slow: { tone: "warn", text: "queue.slow" },
  failed: { tone: "bad", text: "queue.hasFailed" },
} as const satisfies Record<QueueState, { tone: Tone; text: TextKey }>;
/** Copied from QUEUE_COUNT_MAX of the contracts: this many and more. */
const COUNT_MAX = 10_000;

function Row({ health, nowMs }: { health: QueueHealth; nowMs: number }) {
  const { number, t } = useTexts();
  const project = useProject();
  const mayDo = useRights();
  const { failed, oldestDueAt, queue, waiting } = health;
  const { text, tone } = STATES[stateOfQueue(health, nowMs)];
  const count = (value: number) => (value >= COUNT_MAX ? t("queue.atLeast", { count: number(value) }) : number(value));
  const failures = <span className="tabular-nums">{count(failed)}</span>;
  const link = "rounded-sm font-medium text-accent hover:underline";
  return (
    <tr>
      <th scope="row" className="py-2 pr-3 text-left font-medium">
        {t(`queue.${queue}`)}
      </th>
      <td className="py-2 pr-3">
        <Badge tone={tone}>{t(text)}</Badge>
      </td>
      <td className="py-2 pl-3 text-right tabular-nums">{count(waiting)}</td>
      <td className="py-2 pl-3 text-right text-muted">{oldestDueAt === null ? "–" : <Ago time={oldestDueAt} />}</td>
      <td className="py-2 pl-3 text-right">
        {failed > 0 && queue === "messages" ? (
          <Link
            to="/$project/inbox/$view"
            params={{ project, view: "all" }}
            search={{ stage: "failed" }}
            className={link}
          >
            {failures}
          </Link>
        ) : failed > 0 && queue === "callbacks" && mayDo("webhooks:read") ? (
          <Link to="/$project/administration/$section" params={{ project, section: "deliveries" }} className={link}>
            {failures}
          </Link>
        ) : failed > 0 && queue === "documents" ? (
          <Link to="/$project/knowledge" params={{ project }} className={link}>
            {failures}
          </Link>
        ) : (
          failures
        )}
      </td>
    </tr>
  );
}

/** Waiting items of the queues, with their ages, and failed ones. */
export function QueueSection() {
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const nowMs = useNow();
  const queues = useQuery(queuesQuery(connection, project));
  const heads = ["queue.name", "queue.state", "queue.waiting", "queue.oldest", "queue.failed"] as const;
  return (
    <Section title={t("queue.title")} text={t("queue.text")}>
      {queues.isError && <ErrorNotice error={queues.error} onRetry={() => void queues.refetch()} />}
      {queues.isPending && <Skeleton className="h-40 w-full" />}
      {queues.data !== undefined && (
        <div className="overflow-x-auto" tabIndex={0} role="region" aria-label={t("queue.title")}>
          <table className="w-full text-sm">
            <caption className="sr-only">{t("queue.title")}</caption>
            <thead className="text-xs text-muted">
              <tr>
                {heads.map((head, index) => (
                  <th
                    key={head}
                    scope="col"
                    className={`pb-1 font-medium ${index < 2 ? "pr-3 text-left" : "pl-3 text-right"}`}
                  >
                    {t(head)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody className="divide-y divide-line">
              {queues.data.map((health) => (
                <Row key={health.queue} health={health} nowMs={nowMs} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Section>
  );
}
