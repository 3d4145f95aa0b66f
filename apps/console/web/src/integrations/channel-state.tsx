import type { ChannelItem, ServiceAddress, TicketItem, ChannelId } from "@svc/contracts";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CircleCheck, CircleDot, CirclePause, CircleX } from "lucide-react";
import { useState } from "react";
import type { ReactNode } from "react";
import { useTexts } from "../i18n/texts.ts";
import type { TextKey } from "../i18n/texts.ts";
import { useServices, useProject, useRights } from "../session/services.ts";
import { Ago } from "../ui/badge.tsx";
import type { Tone } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { ErrorNotice } from "../ui/notice.tsx";
import { Section } from "../ui/page-frame.tsx";
import type { useAddress } from "./snippets.ts";
import { arrivalOf } from "./use-channel.ts";
import type { Arrival } from "./use-channel.ts";

/** The public URL of a part of the service that is behind a proxy. */
export function AddressField({ address }: { address: ReturnType<typeof useAddress> }) {
  const { t } = useTexts();
  const { isWrong, said, say, usual } = address;
  return (
    <Field
      label={t("address.label")}
      hint={t("address.hint")}
      error={isWrong ? t("address.wrong") : undefined}
      type="url"
      inputMode="url"
      spellCheck={false}
      value={said}
      placeholder={usual}
      onChange={say}
      className="mt-3 max-w-lg"
    />
  );
}

/** The state of a channel, or of another part of the service; `enabled` is null if it cannot be disabled. */
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

/** Returns the state of a part that is not a channel. One that does not respond may run on another machine. */
export const serviceStateOf = (position: ServiceAddress | undefined): Doing => ({
  enabled: null,
  state: position?.isReachable === true ? "running" : null,
  since: null,
});

/** Returns the text and the color of a state. */
function describeState({ enabled, state }: Doing): Described {
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

/** A state, with its start time. */
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

const POLL_MS = 1_000;

const SIGNS = {
  waiting: { icon: CircleDot, className: "text-accent", text: "arrival.waiting" },
  working: { icon: CircleDot, className: "text-accent", text: "arrival.working" },
  answered: { icon: CircleCheck, className: "text-ok", text: "arrival.answered" },
  held: { icon: CirclePause, className: "text-warn", text: "arrival.held" },
  failed: { icon: CircleX, className: "text-bad", text: "arrival.failed" },
} as const satisfies Record<Arrival, { icon: typeof CircleDot; className: string; text: TextKey }>;

/** Polls the newest ticket of a channel from `startedAt` on, to see whether a message arrives. */
function useArrival(channelId: ChannelId, startedAt: number | null) {
  const { connection } = useServices();
  const project = useProject();
  const newest = async (signal: AbortSignal): Promise<TicketItem | null> => {
    const query = { channelId, sort: "-updatedAt", limit: 1 } as const;
    return (await connection.call("listTickets", project, { query, signal })).items[0] ?? null;
  };
  const first = useQuery({
    queryKey: ["arrival", project, channelId, startedAt, "first"],
    enabled: startedAt !== null,
    staleTime: Infinity,
    queryFn: ({ signal }) => newest(signal),
  });
  const now = useQuery({
    queryKey: ["arrival", project, channelId, startedAt, "now"],
    enabled: startedAt !== null && first.isSuccess,
    refetchInterval: POLL_MS,
    queryFn: ({ signal }) => newest(signal),
  });
  const ticket = now.data ?? null;
  return { arrival: arrivalOf(first.data, ticket), ticket, error: first.error ?? now.error };
}

/** Waits for a message on a channel while an operator tries it, and shows its state. */
export function ArrivalTest({
  channelId,
  text,
  children,
}: {
  channelId: ChannelId;
  text: string;
  children: ReactNode;
}) {
  const { t } = useTexts();
  const project = useProject();
  const mayDo = useRights();
  const [startedAt, setStartedAt] = useState<number | null>(null);
  const { arrival, ticket, error } = useArrival(channelId, startedAt);
  const { icon: Icon, className, text: state } = SIGNS[arrival];
  const arrived = arrival === "waiting" ? null : ticket;
  if (!mayDo("tickets:read")) return null;
  return (
    <Section
      title={t("arrival.title")}
      text={text}
      actions={
        <Button onClick={() => setStartedAt(startedAt === null ? Date.now() : null)}>
          {t(startedAt === null ? "arrival.start" : "arrival.stop")}
        </Button>
      }
    >
      {children}
      {startedAt !== null && (
        <div
          role="status"
          className="animate-appear mt-3 flex items-center gap-2.5 rounded-lg bg-sunken px-3 py-2.5 text-sm"
        >
          <Icon
            aria-hidden
            className={`size-4.5 shrink-0 ${className} ${arrival === "waiting" ? "animate-pulse" : ""}`}
          />
          <p className="min-w-0 flex-1">
            {t(state)}
            {arrived !== null && <span className="block truncate text-muted">{arrived.subject}</span>}
          </p>
          {arrived !== null && (
            <Link
              to="/$project/inbox/$view/$ticketId"
              params={{ project, view: "all", ticketId: arrived.id }}
              className="shrink-0 font-medium text-accent hover:underline"
            >
              {t("arrival.open")}
            </Link>
          )}
        </div>
      )}
      {error !== null && <ErrorNotice error={error} />}
    </Section>
  );
}
