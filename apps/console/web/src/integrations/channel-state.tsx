import type { ChannelItem, ServicePlace } from "@svc/contracts";
import type { TextKey } from "../i18n/text-table.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { Ago } from "../ui/ago.tsx";
import type { Tone } from "../ui/badge.tsx";

/** What is known of how something is doing; `enabled` is null for what cannot be switched off. */
export interface Doing {
  enabled: boolean | null;
  state: ChannelItem["state"] | null;
  since: string | null;
}

interface Described {
  text: TextKey;
  tone: Tone;
}

const OF_ENABLED = {
  running: { text: "doing.running", tone: "ok" },
  stopped: { text: "doing.notRunning", tone: "warn" },
  failing: { text: "doing.failing", tone: "bad" },
} as const satisfies Record<ChannelItem["state"], Described>;

const OF_DISABLED = {
  running: { text: "doing.stopping", tone: "warn" },
  stopped: { text: "doing.off", tone: "plain" },
  failing: { text: "doing.failing", tone: "bad" },
} as const satisfies Record<ChannelItem["state"], Described>;

/** How a part is doing that is no channel. One that does not answer may run on another machine: that is not known. */
export const doingOf = (place: ServicePlace | undefined): Doing => ({
  enabled: null,
  state: place?.isReachable === true ? "running" : null,
  since: null,
});

/** How something is doing, as it is called and coloured. */
export function describeState({ enabled, state }: Doing): Described {
  if (state === null) return { text: "doing.unknown", tone: "plain" };
  return enabled === false ? OF_DISABLED[state] : OF_ENABLED[state];
}

const DOTS = {
  ok: "bg-ok",
  warn: "bg-warn",
  bad: "bg-bad",
  plain: "bg-edge",
  accent: "bg-accent",
} as const satisfies Record<Tone, string>;
const WORDS = {
  ok: "text-ok",
  warn: "text-warn",
  bad: "text-bad",
  plain: "text-muted",
  accent: "text-accent",
} as const satisfies Record<Tone, string>;

/** How something is doing, and since when. */
export function StateLine({ doing }: { doing: Doing }) {
  const { t } = useTexts();
  const { text, tone } = describeState(doing);
  return (
    <p role="status" className="flex items-center gap-1.5 text-sm">
      <span aria-hidden className={`size-2 shrink-0 rounded-full ${DOTS[tone]}`} />
      <span className={`font-medium ${WORDS[tone]}`}>{t(text)}</span>
      {doing.since !== null && doing.enabled !== false && <Ago time={doing.since} as="since" className="text-muted" />}
    </p>
  );
}
