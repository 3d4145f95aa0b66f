import { ISSUE_CHAT_PREFIX, ISSUE_ORIGIN } from "@svc/contracts";

/** A column as microseconds since 1970, which a number of JavaScript holds exactly. */
export const microsecondsOf = (column: string) => `(extract(epoch FROM ${column}) * 1000000)::bigint`;

/** Priorities from the least to the most urgent. */
const PRIORITIES = ["low", "normal", "high", "urgent"];
/** More than there are milliseconds since 1970 until the year 2286. */
const URGENCY_STEP = 10_000_000_000_000;

/** The span of `urgency` that a priority has: from the first, before the second. */
export function urgencySpan(priority: string): [number, number] {
  const rank = PRIORITIES.indexOf(priority);
  return [rank * URGENCY_STEP, (rank + 1) * URGENCY_STEP];
}

/** The columns of ticket_list, in the order of `LIST_VALUES`. */
export const LIST_COLUMNS = `ticket_id, project_id, created_us, updated_us, urgency, version, status, stage, channel_id,
  agent_id, assignee, language, user_id, foreign_chat_id, tag_keys, origin`;

/** What stands in ticket_list for a ticket `t`. */
export const LIST_VALUES = `t.id AS ticket_id, t.project_id, ${microsecondsOf("t.created_at")} AS created_us,
  ${microsecondsOf("t.updated_at")} AS updated_us,
  (coalesce(array_position(ARRAY['${PRIORITIES.join("', '")}'], t.priority), 2) - 1) * ${URGENCY_STEP}::bigint
    + (extract(epoch FROM t.updated_at) * 1000)::bigint AS urgency,
  t.version, t.status, t.stage, t.channel_id, t.agent_id, t.assignee, t.language, t.user_id,
  CASE WHEN t.project_id <> t.home_project_id THEN t.chat_id END AS foreign_chat_id,
  ARRAY(SELECT t.project_id || ':' || tag FROM unnest(t.tags) AS tag) AS tag_keys,
  CASE WHEN t.channel_id = 'api' AND t.chat_id LIKE '${ISSUE_CHAT_PREFIX}%' THEN '${ISSUE_ORIGIN}' END AS origin`;
