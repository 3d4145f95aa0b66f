import type { ProjectItem } from "@svc/contracts";
import { renderFacts } from "../render-facts.ts";
import { renderTable } from "../render-table.ts";
import { safeLine } from "../safe-text.ts";
import type { Terminal } from "../terminal.ts";

const TEXT_CHARS = 300;

const describeDays = (days: number) => (days === 1 ? "1 day" : `${days} days`);

const describeRetention = ({ retentionDays }: ProjectItem) =>
  retentionDays === null ? "forever" : describeDays(retentionDays);

const describeFileRetention = ({ fileRetentionDays }: ProjectItem) =>
  fileRetentionDays === null ? "as long as the conversation" : describeDays(fileRetentionDays);

/** What a project may ask of language models. */
function describeModelLimits({ modelLimits: { concurrency, tokensPerDay } }: ProjectItem): string {
  const calls = concurrency === null ? "unlimited concurrent calls" : `${concurrency} concurrent calls`;
  return tokensPerDay === null ? `${calls}, unlimited tokens` : `${calls}, ${tokensPerDay} tokens per day`;
}

const describeHandoff = ({ handoffText }: ProjectItem) =>
  handoffText === "" ? "none" : safeLine(handoffText, TEXT_CHARS);

const describeHandoffs = ({ handoffTexts }: ProjectItem): [string, string][] =>
  Object.entries(handoffTexts).map(([language, text]) => [`handoff text (${language})`, safeLine(text, TEXT_CHARS)]);

const describeGreeting = ({ greeting }: ProjectItem) =>
  greeting === "" ? "service default" : safeLine(greeting, TEXT_CHARS);

/** What signs the callbacks of a project. */
function describeSecret({ webhookSecret, previousWebhookSecretUntil: until }: ProjectItem): string {
  if (webhookSecret === null) return "not set: callbacks are signed with the API key that sent the message";
  return until === null ? "set" : `set; the previous one also signs until ${until}`;
}

/** Projects as a table. */
export function renderProjects(projects: readonly ProjectItem[], { width }: Terminal): string {
  const rows = projects.map((project) => [
    project.name,
    project.createdAt.slice(0, 10),
    describeRetention(project),
    project.tablesAsXlsx ? "yes" : "no",
    describeHandoff(project),
  ]);
  return renderTable(["NAME", "CREATED", "RETENTION", "TABLES AS XLSX", "HANDOFF TEXT"], rows, width);
}

/** One project as a person reads it. */
export function renderProject(project: ProjectItem): string {
  return renderFacts([
    ["name", project.name],
    ["id", project.id],
    ["created", project.createdAt],
    ["handoff text", describeHandoff(project)],
    ...describeHandoffs(project),
    ["greeting", describeGreeting(project)],
    ["tables as XLSX", project.tablesAsXlsx ? "yes" : "no"],
    ["retention of conversations", describeRetention(project)],
    ["retention of customers' files", describeFileRetention(project)],
    ["language models", describeModelLimits(project)],
    ["webhook secret", describeSecret(project)],
    ["version", String(project.version)],
  ]);
}
