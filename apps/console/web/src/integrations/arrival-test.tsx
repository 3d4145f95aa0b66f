import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CircleCheck, CircleDot, CirclePause, CircleX } from "lucide-react";
import { useState } from "react";
import type { ReactNode } from "react";
import type { TicketItem } from "@svc/contracts";
import type { ChannelId } from "@svc/contracts";
import { useServices } from "../app/services.ts";
import { useProject, useRights } from "../app/use-session.ts";
import type { TextKey } from "../i18n/text-table.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { Button } from "../ui/button.tsx";
import { FaultNotice } from "../ui/fault-notice.tsx";
import { Section } from "../ui/page-frame.tsx";
import { arrivalOf } from "./arrival-of.ts";
import type { Arrival } from "./arrival-of.ts";

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
      {(first.isError || now.isError) && <FaultNotice fault={first.error ?? now.error} />}
    </Section>
  );
}
