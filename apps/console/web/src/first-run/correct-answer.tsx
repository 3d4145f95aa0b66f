import { useQueries, useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import type { SubmitEvent } from "react";
import type { TicketDetail } from "@svc/contracts";
import { agentsQuery } from "../api/agents.ts";
import { kbsQuery, searchQuery } from "../api/knowledge.ts";
import { decide } from "../api/tickets.ts";
import { useTexts } from "../i18n/texts.ts";
import { useServices, useProject } from "../session/services.ts";
import { Button } from "../ui/button.tsx";
import { SelectField, TextArea } from "../ui/field.tsx";
import { ErrorNotice } from "../ui/notice.tsx";
import type { KbPlace } from "./first-run-state.ts";
import { useOwnKb } from "./use-own-kb.ts";

const PASSAGES = 4;
const TITLE_MAX_CHARS = 300;
/** The open gaps that are looked through for the question: it was asked just now. */
const GAPS = 20;

const titleOf = (question: string) => question.trim().replaceAll(/\s+/g, " ").slice(0, TITLE_MAX_CHARS);

/**
 * Teaches from a wrong answer: who should answer, which is a lesson for triage, and the right answer as an article, written
 * or taken from a passage of the documents. The ticket of the wrong answer is resolved.
 */
export function CorrectAnswer({
  ticket,
  question,
  onTaught,
}: {
  ticket: TicketDetail;
  question: string;
  /** The article; null where only another agent was chosen. */
  onTaught: (article: KbPlace | null) => void;
}) {
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const findKb = useOwnKb();
  const field = useRef<HTMLTextAreaElement>(null);
  const [agentId, setAgentId] = useState(ticket.agentId);
  const [answer, setAnswer] = useState("");
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const kbs = useQuery(kbsQuery(connection, project));
  const { data: agents = [] } = useQuery(agentsQuery(connection, project));
  const enabled = agents.filter((agent) => agent.enabled);
  const agent = enabled.find(({ id }) => id === agentId) ?? (enabled.length === 1 ? enabled[0] : undefined);
  const places = (kbs.data ?? []).filter(({ documents, id }) => documents > 0 && agent?.kbIds.includes(id) === true);
  const passages = useQueries({
    queries: places.map(({ id }) => searchQuery(connection, { project, kbId: id, q: question, limit: PASSAGES })),
    combine: (found) =>
      found
        .flatMap(({ data = [] }) => data)
        .toSorted((a, b) => b.score - a.score)
        .slice(0, PASSAGES),
  });
  const isRerouted = agent !== undefined && agent.id !== ticket.agentId;

  async function writeArticle(): Promise<KbPlace> {
    const kbId = await findKb(agent?.id);
    const body = { title: titleOf(question), text: answer };
    const { items } = await connection.call("listGaps", project, {
      query: { status: "open", sort: "lastAt", limit: GAPS },
    });
    const gap = items.find(({ examples }) => examples.some(({ ticketId }) => ticketId === ticket.id));
    if (gap !== undefined) {
      const { item } = await connection.call("writeGapArticle", project, {
        params: { id: gap.id },
        body: { kbId, ...body },
        ifMatch: gap.version,
      });
      if (item.article !== null) return item.article;
    }
    const made = await connection.call("addDocuments", project, { params: { id: kbId }, body });
    if (!("item" in made)) throw new Error("One text is returned as one document.");
    return { kbId, documentId: made.item.id };
  }

  async function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    setError(null);
    try {
      const article = answer.trim() === "" ? null : await writeArticle();
      const place = { id: ticket.id, project: ticket.project, version: null };
      if (ticket.status !== "resolved") await decide(connection, place, "resolve", {});
      if (isRerouted) await decide(connection, place, "reroute", { agentId: agent.id });
      onTaught(article);
    } catch (cause) {
      setError(cause);
      setBusy(false);
    }
  }

  return (
    <form
      onSubmit={(event) => void submit(event)}
      className="flex animate-appear flex-col gap-3.5 rounded-lg border border-line bg-surface p-3.5 max-sm:p-2.5"
    >
      {enabled.length > 1 && (
        <SelectField
          label={t("firstRun.agent")}
          hint={t("firstRun.agentHint")}
          value={agent?.id ?? ""}
          onChange={setAgentId}
          options={[
            ...(agent === undefined ? [{ value: "", label: t("reroute.noAgent") }] : []),
            ...enabled.map(({ id, name }) => ({ value: id, label: name })),
          ]}
          className="sm:max-w-80"
        />
      )}
      {passages.length > 0 && (
        <section aria-label={t("firstRun.passages")}>
          <h3 className="mb-1 text-sm font-medium">{t("firstRun.passages")}</h3>
          <ul className="grid grid-cols-1 gap-1.5 sm:grid-cols-2">
            {passages.map(({ chunkId, headingPath, text, title }) => (
              <li key={chunkId}>
                <button
                  type="button"
                  aria-pressed={answer === text}
                  onClick={() => {
                    setAnswer(text);
                    field.current?.focus();
                  }}
                  className="flex size-full flex-col rounded-md border border-line bg-surface p-2 text-left hover:border-edge aria-pressed:border-accent aria-pressed:bg-accent-soft"
                >
                  <span dir="auto" className="w-full truncate text-xs font-medium">
                    {[title, ...headingPath.filter((heading) => heading !== title)].join(" › ")}
                  </span>
                  <span dir="auto" className="mt-0.5 line-clamp-3 text-xs text-muted">
                    {text}
                  </span>
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
      <TextArea
        ref={field}
        label={t("firstRun.answer")}
        hint={t("firstRun.answerHint")}
        rows={4}
        dir="auto"
        value={answer}
        onChange={setAnswer}
      />
      {error !== null && <ErrorNotice error={error} />}
      <Button
        type="submit"
        look="primary"
        isBusy={isBusy}
        disabled={answer.trim() === "" && !isRerouted}
        className="self-start"
      >
        {t("firstRun.teachNow")}
      </Button>
    </form>
  );
}
