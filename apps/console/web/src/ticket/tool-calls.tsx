import { Wrench } from "lucide-react";
import { Fragment } from "react";
import type { TicketDetail, ToolCall } from "@svc/contracts";
import { useTexts } from "../i18n/texts.ts";
import type { TextKey } from "../i18n/texts.ts";
import { Badge } from "../ui/badge.tsx";
import type { Tone } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { flattenValues } from "./read-ticket.ts";
import type { TicketActions } from "./use-ticket-actions.ts";

/** Display of the states of a call. */
export const TOOL_STATES = {
  waiting: { tone: "warn", title: "tool.waiting" },
  approved: { tone: "accent", title: "tool.isApproved" },
  running: { tone: "accent", title: "tool.running" },
  done: { tone: "ok", title: "tool.done" },
  failed: { tone: "bad", title: "tool.failed" },
  unknown: { tone: "bad", title: "tool.unknown" },
  rejected: { tone: "plain", title: "tool.isRejected" },
} as const satisfies Record<ToolCall["state"], { tone: Tone; title: TextKey }>;

/** A tool call, with the arguments that would be sent. */
export function ToolCallView({ call }: { call: ToolCall }) {
  const { duration, t } = useTexts();
  const { tone, title } = TOOL_STATES[call.state];
  const args = flattenValues(call.arguments);
  return (
    <div className="min-w-0">
      <p className="flex flex-wrap items-center gap-2 text-sm">
        <Wrench aria-hidden className="size-3.5 text-faint" />
        <code className="font-mono text-xs font-semibold">{call.tool}</code>
        <Badge tone={tone}>{t(title)}</Badge>
        {call.access === "write" && <Badge>{t("tool.write")}</Badge>}
        {call.ms !== null && <span className="text-xs text-faint">{duration(call.ms)}</span>}
      </p>
      {args.length > 0 && (
        <dl
          tabIndex={0}
          className="mt-1.5 grid max-h-40 grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-0.5 overflow-auto rounded-md bg-sunken px-2.5 py-1.5 text-xs"
        >
          {args.map(({ label, text }) => (
            <Fragment key={label}>
              <dt className="text-muted">{label}</dt>
              <dd dir="auto" className="wrap-anywhere">
                {text}
              </dd>
            </Fragment>
          ))}
        </dl>
      )}
      {call.result !== null && (
        <pre
          tabIndex={0}
          dir="auto"
          className="mt-1 max-h-40 overflow-auto rounded-md bg-sunken px-2.5 py-1.5 font-mono text-2xs whitespace-pre-wrap"
        >
          {call.result}
        </pre>
      )}
    </div>
  );
}

/** Tool calls of the agent that wait for an operator: made once, or never. */
export function ToolCalls({
  ticket,
  actions,
  mayWrite,
}: {
  ticket: TicketDetail;
  actions: TicketActions;
  mayWrite: boolean;
}) {
  const { t } = useTexts();
  const waiting = ticket.toolCalls.filter(({ state }) => state === "waiting");
  if (waiting.length === 0) return null;
  return (
    <section aria-label={t("tool.pending")} className="mt-4 rounded-xl border border-warn/40 bg-surface">
      <h3 className="border-b border-line bg-warn-soft px-4 py-2 text-sm font-semibold">{t("tool.pending")}</h3>
      <ul>
        {waiting.map((call) => (
          <li key={call.id} className="border-line px-4 py-3 not-first:border-t">
            <ToolCallView call={call} />
            {mayWrite && (
              <div className="mt-2 flex gap-1.5">
                <Button
                  variant="primary"
                  size="small"
                  isBusy={actions.busy === `tool-${call.id}`}
                  onClick={() => void actions.decideToolCall(call.id, true)}
                >
                  {t("tool.approve")}
                </Button>
                <Button
                  size="small"
                  isBusy={actions.busy === `tool-${call.id}`}
                  onClick={() => void actions.decideToolCall(call.id, false)}
                >
                  {t("tool.reject")}
                </Button>
              </div>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
