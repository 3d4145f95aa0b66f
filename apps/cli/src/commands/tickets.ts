import { Option } from "commander";
import type { Command } from "commander";
import type { ChannelId, ISSUE_ORIGIN, TicketPriority, TicketSort, TicketStage, TicketStatus } from "@svc/contracts";
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
const CHANNELS = ["api", "widget", "messenger"] as const satisfies ChannelId[];
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
const TICKET_HELP = "its id, or the id of its chat; tickets list shows both, chats in full with --json";

const seenOption = () =>
  new Option("--seen <version>", "the version that you have looked at; tickets show shows it").argParser(
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
    .description("show the tickets of a project, those that changed last first")
    .addOption(new Option("--status <status>", "what people see of it").choices(STATUSES))
    .addOption(new Option("--stage <stage>", "where the pipeline is with it").choices(STAGES))
    .option("--needs-review", "only those that a person has to look at")
    .option("--assignee <name>", "only those that somebody has; none for those that nobody has")
    .option("--q <words>", "words of the subject, the messages, the replies or the customer")
    .addOption(new Option("--channel <channel>", "where it came in").choices(CHANNELS))
    .option("--agent <name>", "only those of an agent")
    .addOption(new Option("--priority <priority>", "how urgent it is").choices(PRIORITIES))
    .option("--tag <tag>", "only those with a tag")
    .addOption(new Option("--origin <origin>", "only issues that MCP clients have submitted").choices(ORIGINS))
    .option("--all-projects", "those of all projects; not with --q")
    .addOption(new Option("--sort <field>", "order, a minus for the greatest first").choices(SORTS))
    .addOption(limitOption())
    .option("--cursor <text>", "go on after an earlier page, with its nextCursor and the same order")
    .addOption(new Option("--all", "all of them").conflicts("cursor"));
  finish(list, cli, [
    "list --needs-review",
    "list --status open --assignee none --sort createdAt",
    'list --q "invoice 2231" --all --json',
    "list --origin tool-server --stage review",
  ]).action(async (options: ListOptions) => {
    const { runList } = await import("../tickets/run-list.ts");
    await runList(cli, options);
  });
  const show = onTicket(tickets, "show", "show a ticket with all that was said and done, and the draft that waits");
  finish(show, cli, ["show 7ffada9a-ded5-5d8c-b511-3a6b33f11143", "show order-42 --json"]).action(
    async (named: string, options: { project: string }) => {
      const { runShow } = await import("../tickets/run-show.ts");
      await runShow(cli, named, options);
    },
  );
}

const ABOUT_ASKING = `
It is shown what waits, and you are asked. What is decided counts for exactly that: when the customer writes in between,
nothing is sent. Scripts say --yes, and by --seen the version that was looked at.
`;

function addReviews(tickets: Command, cli: Cli): void {
  const asking = (command: Command) => command.option("--yes", "do not ask").addOption(seenOption());
  finish(
    asking(onTicket(tickets, "approve", "send the draft as it is")),
    cli,
    ["approve order-42", "approve order-42 --yes --seen 3"],
    ABOUT_ASKING,
  ).action(async (named: string, options: ReviewOptions) => {
    const { runApprove } = await import("../tickets/run-review.ts");
    await runApprove(cli, named, options);
  });
  const edit = onTicket(tickets, "edit", "send another text in the draft's place")
    .argument("[text]", "the text; else --file or standard input")
    .option("--file <file>", "file with the text")
    .option("--markdown", "the text is Markdown (default: as the draft)")
    .option("--no-markdown", "the text is no Markdown");
  finish(
    asking(edit),
    cli,
    ['edit order-42 "It left us this morning."', "edit order-42 --yes --seen 3 < answer.md"],
    ABOUT_ASKING,
  ).action(async (named: string, text: string | undefined, options: EditOptions) => {
    const { runEdit } = await import("../tickets/run-review.ts");
    await runEdit(cli, named, text, options);
  });
  const reject = onTicket(tickets, "reject", "give no answer").option("--reason <text>", "why, for the operators");
  finish(asking(reject), cli, ['reject order-42 --reason "Advertising."'], ABOUT_ASKING).action(
    async (named: string, options: ReviewOptions & { reason?: string }) => {
      const { runReject } = await import("../tickets/run-review.ts");
      await runReject(cli, named, options);
    },
  );
}

function addWriting(tickets: Command, cli: Cli): void {
  const note = onTicket(tickets, "note", "keep a note for the operators; the customer does not see it")
    .argument("[text]", "the note; else --file or standard input")
    .option("--file <file>", "file with the note");
  finish(note, cli, ['note order-42 "She called; the address is right."']).action(
    async (named: string, text: string | undefined, options: WriteOptions) => {
      const { runNote } = await import("../tickets/run-write.ts");
      await runNote(cli, named, text, options);
    },
  );
  const reply = onTicket(tickets, "reply", "write to the customer: to all that waits, or without being asked")
    .argument("[text]", "the text; else --file or standard input")
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
  regenerate: "let the agent make the draft anew",
  takeover: "take the ticket over: it is yours, and nothing is sent automatically",
  reopen: "open the ticket again",
  retry: "try again what has failed five times",
} as const;

async function decide(cli: Cli, named: string, project: string, call: DecisionCall): Promise<void> {
  const { runDecision } = await import("../tickets/run-decision.ts");
  await runDecision(cli, named, project, call);
}

function addMoving(tickets: Command, cli: Cli): void {
  const change = onTicket(tickets, "change", "change what is said of a ticket")
    .option("--subject <text>", "its subject")
    .addOption(new Option("--priority <priority>", "how urgent it is").choices(PRIORITIES))
    .addOption(
      new Option("--tag <tag>", "a tag, in place of all that it had; can be given several times").argParser(
        (tag: string, before: string[] | undefined) => [...(before ?? []), tag],
      ),
    )
    .option("--no-tag", "no tags any more");
  finish(change, cli, ["change order-42 --priority urgent --tag parcel --tag lost"]).action(
    async (named: string, options: ChangeOptions) => {
      const { runChange } = await import("../tickets/run-change.ts");
      await runChange(cli, named, options);
    },
  );
  const assign = onTicket(tickets, "assign", "give the ticket to somebody").argument(
    "<assignee>",
    "as the operators call each other",
  );
  finish(assign, cli, ["assign order-42 ada@example.com"]).action(
    (named: string, assignee: string, { project }: { project: string }) =>
      decide(cli, named, project, { action: "assign", input: { assignee } }),
  );
  const reroute = onTicket(tickets, "reroute", "give the ticket to another agent or project; triage learns from it")
    .option("--agent <name>", "agent of the project that gets it (default: none)")
    .option("--to-project <name>", "another project");
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
  const unassign = onTicket(tickets, "unassign", "give the ticket back: nobody has it any more").option(
    "--keep-draft",
    "leave what waits to the next person, with its draft, and not to the agent",
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
    .description("tickets: list and show them, decide about drafts, answer, assign and close")
    .usage("<list|show|approve|edit|reject|…> [options]");
  addReading(tickets, cli);
  addReviews(tickets, cli);
  addWriting(tickets, cli);
  addMoving(tickets, cli);
}
