import { Option } from "commander";
import type { Command } from "commander";
import { CHANNEL_IDS } from "@svc/contracts";
import type { ISSUE_ORIGIN, TicketPriority, TicketSort, TicketStage, TicketStatus } from "@svc/contracts";
import type { Cli } from "../cli.ts";
import { jsonOption, limitOption, projectOption, wholeNumber } from "../options.ts";
import type { ChangeOptions } from "../tickets/run-change.ts";
import type { DecisionCall, RerouteOptions } from "../tickets/run-decision.ts";
import type { ListOptions } from "../tickets/run-list.ts";
import type { EditOptions, ReviewOptions } from "../tickets/run-review.ts";
import type { WriteOptions } from "../tickets/run-write.ts";

/** Named here so that the help needs nothing of the product. */
const STATUSES = ["open", "pending", "resolved", "spam"] as const satisfies TicketStatus[];
const STAGES = [
  "received",
  "triage",
  "retrieval",
  "agent",
  "review",
  "delivering",
  "done",
  "failed",
] as const satisfies TicketStage[];
const PRIORITIES = ["low", "normal", "high", "urgent"] as const satisfies TicketPriority[];
const SORTS = [
  "createdAt",
  "-createdAt",
  "updatedAt",
  "-updatedAt",
  "priority",
  "-priority",
] as const satisfies TicketSort[];
const ORIGINS = ["tool-server"] as const satisfies (typeof ISSUE_ORIGIN)[];
const TICKET_HELP = "ID of the ticket or of its chat, as shown by tickets list (full chat IDs with --json)";

const seenOption = () =>
  new Option("--seen <version>", "version of the ticket that you have seen, as shown by tickets show").argParser(
    wholeNumber(0, 2 ** 31 - 1),
  );

/** A command about one ticket. */
function onTicket(tickets: Command, name: string, description: string): Command {
  return tickets.command(name).description(description).argument("<ticket>", TICKET_HELP);
}

/** The options that every command about a project has, and its examples. */
function finish(command: Command, cli: Cli, examples: readonly string[], text = ""): Command {
  const lines = examples.map((example) => `  ${cli.self} tickets ${example}`).join("\n");
  return command
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText("after", `${text}\nExamples:\n${lines}`);
}

function addReading(tickets: Command, cli: Cli): void {
  const list = tickets
    .command("list")
    .description("list the tickets of a project, most recently updated first")
    .addOption(new Option("--status <status>", "status").choices(STATUSES))
    .addOption(new Option("--stage <stage>", "stage in the pipeline").choices(STAGES))
    .option("--needs-review", "only tickets that need attention from an operator")
    .option("--assignee <name>", "only tickets of this assignee; none for unassigned tickets")
    .option("--search <words>", "words in the subject, the messages, the replies or the customer")
    .addOption(new Option("--q <words>", "deprecated: use --search").hideHelp())
    .addOption(new Option("--channel <channel>", "channel").choices(CHANNEL_IDS))
    .option("--agent <name>", "only tickets of this agent")
    .addOption(new Option("--priority <priority>", "priority").choices(PRIORITIES))
    .option("--tag <tag>", "only tickets with this tag")
    .addOption(new Option("--origin <origin>", "only issues submitted by MCP clients").choices(ORIGINS))
    .option("--all-projects", "tickets of all projects (not with --search)")
    .addOption(new Option("--sort <field>", "sort order; a minus for descending").choices(SORTS))
    .addOption(limitOption())
    .option("--cursor <text>", "nextCursor of the previous page, with the same sort order")
    .addOption(new Option("--all", "all pages").conflicts("cursor"));
  finish(list, cli, [
    "list --needs-review",
    "list --status open --assignee none --sort createdAt",
    'list --search "invoice 2231" --all --json',
    "list --origin tool-server --stage review",
  ]).action(async (options: ListOptions) => {
    const { runList } = await import("../tickets/run-list.ts");
    await runList(cli, options);
  });
  const show = onTicket(tickets, "show", "show a ticket with its conversation and draft");
  finish(show, cli, ["show 7ffada9a-ded5-5d8c-b511-3a6b33f11143", "show order-42 --json"]).action(
    async (named: string, options: { project: string }) => {
      const { runShow } = await import("../tickets/run-show.ts");
      await runShow(cli, named, options);
    },
  );
}

const ABOUT_ASKING = `
Shows what is waiting and asks for confirmation. The decision applies only to that state: if the customer writes in the
meantime, nothing is sent. In scripts, use --yes, and --seen with the version that was reviewed.`;

function addReviews(tickets: Command, cli: Cli): void {
  const asking = (command: Command) => command.option("--yes", "skip the confirmation").addOption(seenOption());
  finish(
    asking(onTicket(tickets, "approve", "send the draft unchanged")),
    cli,
    ["approve order-42", "approve order-42 --yes --seen 3"],
    ABOUT_ASKING,
  ).action(async (named: string, options: ReviewOptions) => {
    const { runApprove } = await import("../tickets/run-review.ts");
    await runApprove(cli, named, options);
  });
  const edit = onTicket(tickets, "edit", "send a different text instead of the draft")
    .argument("[text]", "the text (default: --file or standard input)")
    .option("--file <file>", "file with the text")
    .option("--markdown", "the text is Markdown (default: like the draft)")
    .option("--no-markdown", "the text is plain text");
  finish(
    asking(edit),
    cli,
    ['edit order-42 "It left us this morning."', "edit order-42 --yes --seen 3 < answer.md"],
    ABOUT_ASKING,
  ).action(async (named: string, text: string | undefined, options: EditOptions) => {
    const { runEdit } = await import("../tickets/run-review.ts");
    await runEdit(cli, named, text, options);
  });
  const reject = onTicket(tickets, "reject", "dismiss the draft without an answer").option(
    "--reason <text>",
    "reason, for operators",
  );
  finish(asking(reject), cli, ['reject order-42 --reason "Advertising."'], ABOUT_ASKING).action(
    async (named: string, options: ReviewOptions & { reason?: string }) => {
      const { runReject } = await import("../tickets/run-review.ts");
      await runReject(cli, named, options);
    },
  );
}

function addWriting(tickets: Command, cli: Cli): void {
  const note = onTicket(tickets, "note", "add an internal note, not visible to the customer")
    .argument("[text]", "the note (default: --file or standard input)")
    .option("--file <file>", "file with the note");
  finish(note, cli, ['note order-42 "She called; the address is right."']).action(
    async (named: string, text: string | undefined, options: WriteOptions) => {
      const { runNote } = await import("../tickets/run-write.ts");
      await runNote(cli, named, text, options);
    },
  );
  const reply = onTicket(tickets, "reply", "send a reply to the customer, even if no message is waiting")
    .argument("[text]", "the text (default: --file or standard input)")
    .option("--file <file>", "file with the text")
    .option("--markdown", "the text is Markdown");
  finish(reply, cli, ['reply order-42 "It arrives tomorrow."', "reply order-42 --markdown --file answer.md"]).action(
    async (named: string, text: string | undefined, options: WriteOptions) => {
      const { runReply } = await import("../tickets/run-write.ts");
      await runReply(cli, named, text, options);
    },
  );
}

/** Actions that take nothing. */
const PLAIN = {
  regenerate: "let the agent regenerate the draft",
  takeover: "take over the ticket: assign it to yourself, so that nothing is sent automatically",
  reopen: "reopen the ticket",
  retry: "retry messages and replies that failed five times",
} as const;

async function decide(cli: Cli, named: string, project: string, call: DecisionCall): Promise<void> {
  const { runDecision } = await import("../tickets/run-decision.ts");
  await runDecision(cli, named, project, call);
}

function addMoving(tickets: Command, cli: Cli): void {
  const update = onTicket(tickets, "update", "update the subject, priority or tags of a ticket")
    .option("--subject <text>", "subject")
    .addOption(new Option("--priority <priority>", "priority").choices(PRIORITIES))
    .addOption(
      new Option("--tag <tag>", "tag; replaces all tags (repeatable)").argParser(
        (tag: string, before: string[] | undefined) => [...(before ?? []), tag],
      ),
    )
    .option("--no-tag", "remove all tags");
  finish(update.alias("change"), cli, ["update order-42 --priority urgent --tag parcel --tag lost"]).action(
    async (named: string, options: ChangeOptions) => {
      const { runChange } = await import("../tickets/run-change.ts");
      await runChange(cli, named, options);
    },
  );
  const assign = onTicket(tickets, "assign", "assign the ticket").argument("<assignee>", "name of the operator");
  finish(assign, cli, ["assign order-42 ada@example.com"]).action(
    (named: string, assignee: string, { project }: { project: string }) =>
      decide(cli, named, project, { action: "assign", input: { assignee } }),
  );
  const reroute = onTicket(
    tickets,
    "reroute",
    "route the ticket to another agent or project; future routing learns from it",
  )
    .option("--agent <name>", "new agent in the project (default: none)")
    .option("--to-project <name>", "move the ticket to another project");
  finish(reroute, cli, ["reroute order-42 --agent billing", "reroute order-42 --to-project shop"]).action(
    async (named: string, options: RerouteOptions) => {
      const { runReroute } = await import("../tickets/run-decision.ts");
      await runReroute(cli, named, options);
    },
  );
  const resolve = onTicket(tickets, "resolve", "close the ticket").option("--spam", "close it as spam");
  finish(resolve, cli, ["resolve order-42", "resolve order-42 --spam"]).action(
    (named: string, { project, spam }: { project: string; spam?: true }) =>
      decide(cli, named, project, { action: "resolve", input: spam === true ? { status: "spam" } : {} }),
  );
  const unassign = onTicket(tickets, "unassign", "unassign the ticket").option(
    "--keep-draft",
    "keep waiting messages and the draft for the next operator instead of the agent",
  );
  finish(unassign, cli, ["unassign order-42", "unassign order-42 --keep-draft"]).action(
    (named: string, { project, keepDraft }: { project: string; keepDraft?: true }) =>
      decide(cli, named, project, { action: "unassign", input: keepDraft === true ? { keepsDraft: true } : {} }),
  );
  for (const [action, description] of Object.entries(PLAIN) as [keyof typeof PLAIN, string][]) {
    finish(onTicket(tickets, action, description), cli, [`${action} order-42`]).action(
      (named: string, { project }: { project: string }) => decide(cli, named, project, { action, input: {} }),
    );
  }
}

/** `svc tickets`: shows conversations, and decides about those that a person has to look at. */
export function addTickets(program: Command, cli: Cli): void {
  const tickets = program
    .command("tickets")
    .description("list, review, answer, assign and close tickets")
    .usage("<list|show|approve|edit|reject|…> [options]");
  addReading(tickets, cli);
  addReviews(tickets, cli);
  addWriting(tickets, cli);
  addMoving(tickets, cli);
}
