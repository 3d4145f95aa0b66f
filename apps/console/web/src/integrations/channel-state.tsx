import type { ChannelItem, ServicePlace, TicketItem, ChannelId } from "@svc/contracts";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CircleCheck, CircleDot, CirclePause, CircleX } from "lucide-react";
import { useState } from "react";
import type { ReactNode } from "react";
import { useTexts } from "../i18n/texts.ts";
import type { TextKey } from "../i18n/texts.ts";
import { useServices, useProject, useRights } from "../session/services.ts";
import { Ago } from "../ui/ago.tsx";
import type { Tone } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { ErrorNotice } from "../ui/notice.tsx";
import { Section } from "../ui/page-frame.tsx";
import type { useAddress } from "./use-address.ts";
import { arrivalOf } from "./use-channel.ts";
import type { Arrival } from "./use-channel.ts";

/** Where to say the address that a part has outside, for whoever has a proxy before it. */
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
      onChange={({ currentTarget }) => say(currentTarget.value)}
      className="mt-3 max-w-lg"
    />
  );
}

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

const LOOK_MS = 1_000;

const SIGNS = {
  waiting: { icon: CircleDot, look: "text-accent", text: "arrival.waiting" },
  working: { icon: CircleDot, look: "text-accent", text: "arrival.working" },
  answered: { icon: CircleCheck, look: "text-ok", text: "arrival.answered" },
  held: { icon: CirclePause, look: "text-warn", text: "arrival.held" },
  failed: { icon: CircleX, look: "text-bad", text: "arrival.failed" },
} as const satisfies Record<Arrival, { icon: typeof CircleDot; look: string; text: TextKey }>;

/** Watches for a message on a channel while somebody tries it, and says what becomes of it. */
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
  const { connection } = useServices();
  const project = useProject();
  const mayDo = useRights();
  const [startedAt, setStartedAt] = useState<number | null>(null);
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
    refetchInterval: LOOK_MS,
    queryFn: ({ signal }) => newest(signal),
  });
  const arrival = arrivalOf(first.data, now.data ?? null);
  const { icon: Icon, look, text: said } = SIGNS[arrival];
  const ticket = now.data ?? null;
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
          <Icon aria-hidden className={`size-4.5 shrink-0 ${look} ${arrival === "waiting" ? "animate-pulse" : ""}`} />
          <p className="min-w-0 flex-1">
            {t(said)}
            {arrival !== "waiting" && ticket !== null && (
              <span className="block truncate text-muted">{ticket.subject}</span>
            )}
          </p>
          {arrival !== "waiting" && ticket !== null && (
            <Link
              to="/$project/inbox/$view/$ticketId"
              params={{ project, view: "all", ticketId: ticket.id }}
              className="shrink-0 font-medium text-accent hover:underline"
            >
              {t("arrival.open")}
            </Link>
          )}
        </div>
      )}
      {(first.isError || now.isError) && <ErrorNotice error={first.error ?? now.error} />}
    </Section>
  );
}
