import { useQueries, useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import type { SubmitEvent } from "react";
import type { KbHit, TicketDetail } from "@svc/contracts";
import { agentsQuery } from "../api/administration.ts";
import { kbsQuery, searchQuery } from "../api/knowledge.ts";
import { decide } from "../api/tickets.ts";
import { useTexts } from "../i18n/texts.ts";
import { useServices, useProject } from "../session/services.ts";
import { Button } from "../ui/button.tsx";
import { SelectField, TextArea } from "../ui/field.tsx";
import { ErrorNotice } from "../ui/notice.tsx";
import { useOwnKb } from "./use-own-kb.ts";
import type { KbTarget } from "./first-run-state.ts";

const PASSAGES = 4;
const TITLE_MAX_CHARS = 300;
/** Number of open gaps that are searched for the question, which was asked just now. */
const GAPS = 20;

const titleOf = (question: string) => question.trim().replaceAll(/\s+/g, " ").slice(0, TITLE_MAX_CHARS);

/** The enabled agents, the one that should answer, and the passages of its knowledge bases that match the question. */
function useCandidates(agentId: string | null, question: string) {
  const { connection } = useServices();
  const project = useProject();
  const kbs = useQuery(kbsQuery(connection, project));
  const { data: agents = [] } = useQuery(agentsQuery(connection, project));
  const enabled = agents.filter((agent) => agent.enabled);
  const agent = enabled.find(({ id }) => id === agentId) ?? (enabled.length === 1 ? enabled[0] : undefined);
  const targets = (kbs.data ?? []).filter(({ documents, id }) => documents > 0 && agent?.kbIds.includes(id) === true);
  const passages = useQueries({
    queries: targets.map(({ id }) => searchQuery(connection, { project, kbId: id, q: question, limit: PASSAGES })),
    combine: (found) =>
      found
        .flatMap(({ data = [] }) => data)
        .toSorted((a, b) => b.score - a.score)
        .slice(0, PASSAGES),
  });
  return { agent, enabled, passages };
}

/**
 * Returns a function that writes the answer to the question as an article: of its gap if there is one, otherwise a
 * separate one.
 */
function useWriteArticle(ticket: TicketDetail, question: string) {
  const { connection } = useServices();
  const project = useProject();
  const findKb = useOwnKb();
  return async function writeArticle(answer: string, agentId: string | undefined): Promise<KbTarget> {
    const kbId = await findKb(agentId);
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
  };
}

/** Returns a function that writes the article, resolves the ticket, and reroutes it if another agent was chosen. */
function useTeach(ticket: TicketDetail, question: string, onTaught: (article: KbTarget | null) => void) {
  const { connection } = useServices();
  const writeArticle = useWriteArticle(ticket, question);
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  async function teach(answer: string, agentId: string | undefined, isRerouted: boolean) {
    if (isBusy) return;
    setBusy(true);
    setError(null);
    try {
      const article = answer.trim() === "" ? null : await writeArticle(answer, agentId);
      const target = { id: ticket.id, project: ticket.project, version: null };
      if (ticket.status !== "resolved") await decide(connection, target, "resolve", {});
      if (isRerouted && agentId !== undefined) await decide(connection, target, "reroute", { agentId });
      onTaught(article);
    } catch (cause) {
      setError(cause);
      setBusy(false);
    }
  }
  return { error, isBusy, teach };
}

/** Passages of the documents for choosing the right answer. */
function PassageChoice({
  passages,
  chosen,
  onChoose,
}: {
  passages: readonly KbHit[];
  chosen: string;
  onChoose: (text: string) => void;
}) {
  const { t } = useTexts();
  return (
    <section aria-label={t("firstRun.passages")}>
      <h3 className="mb-1 text-sm font-medium">{t("firstRun.passages")}</h3>
      <ul className="grid grid-cols-1 gap-1.5 sm:grid-cols-2">
        {passages.map(({ chunkId, headingPath, text, title }) => (
          <li key={chunkId}>
            <button
              type="button"
              aria-pressed={chosen === text}
              onClick={() => onChoose(text)}
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
  );
}

/**
 * Corrects a wrong answer: the right agent, from which triage learns, and the right answer as an article, written or
 * taken from a passage of the documents. The ticket of the wrong answer is resolved.
 */
// oxlint-disable-next-line max-lines-per-function -- the markup of one form
export function CorrectAnswer({
  ticket,
  question,
  onTaught,
}: {
  ticket: TicketDetail;
  question: string;
  /** The article; null if only another agent was chosen. */
  onTaught: (article: KbTarget | null) => void;
}) {
  const { t } = useTexts();
  const field = useRef<HTMLTextAreaElement>(null);
  const [agentId, setAgentId] = useState(ticket.agentId);
  const [answer, setAnswer] = useState("");
  const { agent, enabled, passages } = useCandidates(agentId, question);
  const isRerouted = agent !== undefined && agent.id !== ticket.agentId;

  const { error, isBusy, teach } = useTeach(ticket, question, onTaught);
  function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    void teach(answer, agent?.id, isRerouted);
  }

  return (
    <form
      onSubmit={submit}
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
        <PassageChoice
          passages={passages}
          chosen={answer}
          onChoose={(text) => {
            setAnswer(text);
            field.current?.focus();
          }}
        />
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
        variant="primary"
        isBusy={isBusy}
        disabled={answer.trim() === "" && !isRerouted}
        className="self-start"
      >
        {t("firstRun.teachNow")}
      </Button>
    </form>
  );
}
