import { useQuery } from "@tanstack/react-query";
import { History } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import type { SubmitEvent } from "react";
import { replayInParts } from "@svc/client";
import type { ReplayProgress } from "@svc/client";
import type { Agent, AgentChange } from "@svc/contracts";
import { agentsQuery } from "../api/agents.ts";
import { useServices } from "../app/services.ts";
import { useProject } from "../app/use-session.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { Button } from "../ui/button.tsx";
import { FaultNotice } from "../ui/fault-notice.tsx";
import { Field, SelectField } from "../ui/field.tsx";
import { Notice } from "../ui/notice.tsx";
import { Section } from "../ui/page-frame.tsx";
import { TextArea } from "../ui/text-area.tsx";
import { ReplayCard } from "./replay-card.tsx";
import { ReplaySummary } from "./replay-summary.tsx";
import { readNames } from "./tool-draft.ts";

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;
const EDITS = "";
/** Time limit of a part, in milliseconds: short, so that the progress is visible. */
const PART_MS = 12_000;

/** Plays past tickets again: with what was changed in the editor, or with another agent, beside how it is now. */
export function ReplaySection({ agent, changes }: { agent: Agent; changes: AgentChange }) {
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const agents = useQuery(agentsQuery(connection, project));
  const [againstId, setAgainstId] = useState(EDITS);
  const [limit, setLimit] = useState(String(DEFAULT_LIMIT));
  const [tickets, setTickets] = useState("");
  const [replay, setReplay] = useState<ReplayProgress | null>(null);
  const [fault, setFault] = useState<unknown>(null);
  const [isRunning, setRunning] = useState(false);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const others = (agents.data ?? []).filter(({ id }) => id !== agent.id);
  const isUnchanged = againstId === EDITS && Object.keys(changes).length === 0;

  async function run() {
    const controller = new AbortController();
    running.current = controller;
    setRunning(true);
    setFault(null);
    setReplay(null);
    const ticketIds = readNames(tickets);
    const input = {
      against: againstId === EDITS ? changes : { agentId: againstId },
      limit: Number(limit),
      ...(ticketIds === null ? {} : { ticketIds }),
    };
    try {
      const parts = replayInParts(
        (body) =>
          connection.call("replayAgent", project, { params: { id: agent.id }, body, signal: controller.signal }),
        input,
        (isAlone) => (isAlone ? undefined : PART_MS),
      );
      for await (const part of parts) setReplay(part);
    } catch (cause) {
      // What was compared until it was stopped stays.
      if (!controller.signal.aborted) setFault(cause);
    } finally {
      if (running.current === controller) setRunning(false);
    }
  }
  function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    if (!isRunning && !isUnchanged) void run();
  }

  const total = replay === null ? 0 : replay.items.length + replay.left.length;
  return (
    <Section title={t("replay.title")} text={t("replay.text")}>
      <form onSubmit={submit} className="flex flex-col gap-3">
        <div className="grid gap-3 sm:grid-cols-2">
          <SelectField
            label={t("replay.against")}
            value={againstId}
            options={[
              { value: EDITS, label: t("replay.edits") },
              ...others.map(({ id, name }) => ({ value: id, label: name })),
            ]}
            {...(isUnchanged ? { hint: t("replay.nothing") } : {})}
            onChange={({ currentTarget }) => setAgainstId(currentTarget.value)}
          />
          <Field
            label={t("replay.limit")}
            type="number"
            inputMode="numeric"
            min={1}
            max={MAX_LIMIT}
            step={1}
            required
            value={limit}
            onChange={({ currentTarget }) => setLimit(currentTarget.value)}
          />
        </div>
        <TextArea
          label={t("replay.tickets")}
          hint={t("replay.ticketsHint")}
          rows={2}
          spellCheck={false}
          value={tickets}
          onChange={({ currentTarget }) => setTickets(currentTarget.value)}
        />
        <div className="flex gap-2">
          <Button type="submit" look="primary" isBusy={isRunning} disabled={isUnchanged}>
            <History aria-hidden className="size-4" />
            {t("replay.run")}
          </Button>
          {isRunning && <Button onClick={() => running.current?.abort()}>{t("replay.stop")}</Button>}
        </div>
      </form>
      <div aria-live="polite" aria-busy={isRunning} className="mt-4 flex flex-col gap-3 empty:mt-0">
        {isRunning && (
          <div>
            <progress
              aria-label={t("replay.title")}
              {...(replay === null ? {} : { value: replay.items.length })}
              max={Math.max(1, total)}
              className="block h-1.5 w-full accent-accent"
            />
            {replay !== null && (
              <p className="mt-1 text-xs text-muted">{t("replay.progress", { done: replay.items.length, total })}</p>
            )}
          </div>
        )}
        {fault !== null && <FaultNotice fault={fault} onRetry={() => void run()} />}
        {!isRunning && replay !== null && total === 0 && <Notice>{t("replay.none")}</Notice>}
        {!isRunning && fault === null && replay !== null && replay.left.length > 0 && (
          <Notice look="warn">
            {t("replay.progress", { done: replay.items.length, total })}
            {running.current?.signal.aborted === false && ` ${t("replay.stuck")}`}
          </Notice>
        )}
        {replay !== null && replay.items.length > 0 && <ReplaySummary replay={replay} />}
      </div>
      {replay !== null && replay.items.length > 0 && (
        <ul className="mt-4 divide-y divide-line rounded-lg border border-line">
          {replay.items.map((item) => (
            <ReplayCard key={item.messageId} item={item} />
          ))}
        </ul>
      )}
    </Section>
  );
}
