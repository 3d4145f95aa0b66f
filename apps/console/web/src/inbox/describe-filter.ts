import { mapChannels } from "@svc/contracts";
import type { Agent, ChannelId } from "@svc/contracts";
import type { Texts } from "../i18n/create-texts.ts";
import type { TextKey } from "../i18n/text-table.ts";
import type { FilterName } from "./inbox-search.ts";

/** What filters are called. */
export const FILTER_TITLES = {
  q: "filter.q",
  sort: "filter.sort",
  channelId: "filter.channelId",
  status: "filter.status",
  stage: "filter.stage",
  priority: "filter.priority",
  agentId: "filter.agentId",
  assignee: "filter.assignee",
  tag: "filter.tag",
  language: "filter.language",
  userId: "filter.userId",
} as const satisfies Record<FilterName, TextKey>;

/** The values of filters that the console has words for. */
const VALUES: Partial<Record<FilterName, Readonly<Record<string, TextKey>>>> = {
  channelId: mapChannels<Record<ChannelId, TextKey>>((id) => `channel.${id}`),
  status: { open: "status.open", pending: "status.pending", resolved: "status.resolved", spam: "status.spam" },
  priority: { low: "priority.low", normal: "priority.normal", high: "priority.high", urgent: "priority.urgent" },
  stage: {
    received: "state.received",
    triage: "state.triage",
    retrieval: "state.retrieval",
    agent: "state.agent",
    review: "state.review",
    delivering: "state.delivering",
    done: "state.done",
    failed: "state.failed",
  },
  sort: {
    "-updatedAt": "sort.-updatedAt",
    updatedAt: "sort.updatedAt",
    "-createdAt": "sort.-createdAt",
    createdAt: "sort.createdAt",
    "-priority": "sort.-priority",
    priority: "sort.priority",
  },
};

/** The values that a filter can be chosen from, with their names; none where anything can be typed. */
export const filterOptions = (name: FilterName, t: Texts["t"]): { value: string; label: string }[] =>
  Object.entries(VALUES[name] ?? {}).map(([value, key]) => ({ value, label: t(key) }));

/** The name of a language, or what was typed in its place. */
function nameLanguage(tag: string, languageName: Texts["languageName"]): string {
  try {
    return languageName(tag);
  } catch {
    // It is no tag of a language: nothing is found with it, and it can be removed.
    return tag;
  }
}

/** A filter in words, as in "Priority: high". */
export function describeFilter(
  name: FilterName,
  value: string,
  {
    texts: { t, languageName },
    nameOf,
    agents,
  }: {
    texts: Pick<Texts, "t" | "languageName">;
    nameOf: (actor: string) => string;
    /** Undefined while they are loading. */
    agents: readonly Agent[] | undefined;
  },
): string {
  const key = VALUES[name]?.[value];
  const named: Partial<Record<FilterName, () => string>> = {
    agentId: () =>
      agents === undefined ? "…" : (agents.find(({ id }) => id === value)?.name ?? t("filter.deletedAgent")),
    assignee: () => (value === "none" ? t("filter.nobody") : nameOf(value)),
    language: () => nameLanguage(value, languageName),
  };
  const text = key === undefined ? (named[name]?.() ?? value) : t(key);
  return `${t(FILTER_TITLES[name])}: ${text}`;
}
