import {
  CHANNEL_IDS,
  ISSUE_ORIGIN,
  TICKET_SORTS,
  ticketPrioritySchema,
  ticketStageSchema,
  ticketStatusSchema,
} from "@svc/contracts";
import {
  asAdministrator,
  bindOperations,
  findTicketId,
  getAgent,
  getCannedReplyNamed,
  getTicketNamed,
  readAll,
} from "../as-administrator.ts";
import { usageError } from "../cli.ts";
import { defineCommand } from "../define-command.ts";
import { defineShow } from "../define-resource.ts";
import type { OptionValues } from "../define-command.ts";
import { choice, definedOnly, flag, limitOption, list as repeatable, option, projectOption } from "../options.ts";
import type { TypedOption } from "../options.ts";
import { readText } from "../read-input.ts";
import { nextPage } from "../render-table.ts";
import { optionWords } from "../terminal.ts";
import { REVIEW_OPTIONS, review, runDecision } from "../tickets/decide-ticket.ts";
import { renderTicket, renderTickets } from "../tickets/render-ticket.ts";

const TICKET = {
  "<ticket>": "ID of the ticket or of its chat, as shown by tickets list (full chat IDs with --json)",
} as const;

const LIST_OPTIONS = {
  status: choice("--status <status>", "status", ticketStatusSchema.options),
  stage: choice("--stage <stage>", "stage in the pipeline", ticketStageSchema.options),
  needsReview: flag("--needs-review", "only tickets that need attention from an operator"),
  overdue: flag("--overdue", "only tickets that are late by the SLA targets"),
  snoozed: flag("--snoozed", "only snoozed tickets"),
  assignee: option("--assignee <name>", "only tickets of this assignee; none for unassigned tickets"),
  search: option("--search <words>", "words in the subject, the messages, the replies or the customer"),
  q: option("--q <words>", "deprecated: use --search").hideHelp(),
  channel: choice("--channel <channel>", "channel", CHANNEL_IDS),
  agent: option("--agent <name>", "only tickets of this agent"),
  priority: choice("--priority <priority>", "priority", ticketPrioritySchema.options),
  tag: option("--tag <tag>", "only tickets with this tag"),
  customer: option("--customer <customerId>", "only conversations of this customer"),
  origin: choice("--origin <origin>", "only issues submitted by MCP clients", [ISSUE_ORIGIN]),
  allProjects: flag("--all-projects", "tickets of all projects (not with --search)"),
  sort: choice("--sort <field>", "sort order; a minus for descending", TICKET_SORTS),
  limit: limitOption,
  cursor: option("--cursor <text>", "nextCursor of the previous page, with the same sort order"),
  all: flag("--all", "all pages").conflicts("cursor"),
  project: projectOption,
};

/** Returns the options of a list again, for the next page. */
function repeatOptions(input: OptionValues<typeof LIST_OPTIONS>): string {
  const { project, status, stage, assignee, search, q, channel, agent, priority, tag } = input;
  const { customer, origin, sort, limit } = input;
  const flags = [
    ...(input.needsReview ? [" --needs-review"] : []),
    ...(input.overdue ? [" --overdue"] : []),
    ...(input.snoozed ? [" --snoozed"] : []),
    ...(input.allProjects ? [" --all-projects"] : []),
  ];
  const values = {
    project,
    status,
    stage,
    assignee,
    search,
    q,
    channel,
    agent,
    priority,
    tag,
    customer,
    origin,
    sort,
    limit,
  };
  return optionWords(values) + flags.join("");
}

const list = defineCommand({
  description: "list the tickets of a project, most recently updated first",
  options: LIST_OPTIONS,
  examples: [
    "tickets list --needs-review",
    "tickets list --status open --assignee none --sort createdAt",
    'tickets list --search "invoice 2231" --all --json',
    "tickets list --origin tool-server --stage review",
  ],
  async run(cli, options) {
    const {
      project,
      channel,
      agent,
      needsReview,
      overdue,
      snoozed,
      allProjects,
      all,
      limit,
      cursor,
      search,
      q = search,
    } = options;
    const { status, stage, assignee, priority, tag, origin, sort } = options;
    const filters = { status, stage, assignee, priority, tag, origin, sort, q };
    const { items, nextCursor } = await asAdministrator(cli, project, async (operations) => {
      const input = definedOnly({
        ...filters,
        channelId: channel,
        customerId: options.customer,
        agentId: agent === undefined ? undefined : (await getAgent(operations, agent)).id,
        needsReview: needsReview === true ? ("1" as const) : undefined,
        overdue: overdue === true ? ("1" as const) : undefined,
        snoozed: snoozed === true ? ("1" as const) : undefined,
        allProjects: allProjects === true ? ("1" as const) : undefined,
      });
      if (all !== true) return operations.listTickets({ ...input, limit, cursor });
      const everything = await readAll((page) => operations.listTickets({ ...input, ...page }));
      return { items: everything, nextCursor: null };
    });
    cli.terminal.show({ ok: true, project, items, nextCursor }, () =>
      items.length === 0
        ? "No matching tickets."
        : renderTickets(items, cli.terminal, Date.now()) +
          nextPage(cli, `tickets list ${repeatOptions(options)}`, nextCursor),
    );
  },
});

const show = defineShow({
  isOfProject: true,
  description: "show a ticket with its conversation and draft",
  args: TICKET,
  examples: ["tickets show 7ffada9a-ded5-5d8c-b511-3a6b33f11143", "tickets show order-42 --json"],
  find: getTicketNamed,
  render: (ticket, { paint }) => renderTicket(ticket, paint),
});

const ABOUT_ASKING = `Shows what is waiting and asks for confirmation. The decision applies only to that state: if the customer writes in the
meantime, nothing is sent. In scripts, use --yes, and --seen with the version that was reviewed.`;

const andResolve = flag("--resolve", "resolve the ticket with the reply");

const approve = defineCommand({
  description: "send the draft unchanged",
  args: TICKET,
  options: { resolve: andResolve, ...REVIEW_OPTIONS },
  about: ABOUT_ASKING,
  examples: ["tickets approve order-42", "tickets approve order-42 --yes --seen 3"],
  run: (cli, input) =>
    review(cli, input, {
      call: { action: "approve", input: definedOnly({ resolves: input.resolve }) },
      question: "Send this draft?",
    }),
});

const TEXT = { ...TICKET, "[text]": "the text (default: --file or standard input)" } as const;
const textFile = option("--file <file>", "file with the text");

const markdownOrNot: TypedOption<boolean | undefined> = flag(
  "--markdown",
  "the text is Markdown (default: like the draft)",
);

const edit = defineCommand({
  description: "send a different text instead of the draft",
  args: TEXT,
  options: {
    file: textFile,
    markdown: markdownOrNot,
    noMarkdown: flag("--no-markdown", "the text is plain text"),
    resolve: andResolve,
    ...REVIEW_OPTIONS,
  },
  about: ABOUT_ASKING,
  examples: ['tickets edit order-42 "It left us this morning."', "tickets edit order-42 --yes --seen 3 < answer.md"],
  async run(cli, input) {
    const { text, file, markdown, resolve: resolves, yes } = input;
    const isPiped = text === undefined && (file === undefined || file === "-");
    if (isPiped && yes !== true) {
      throw usageError(
        "Pass the text as an argument or with --file. From standard input, it requires --yes and --seen, because confirmation is not possible.",
      );
    }
    const sent = await readText(cli, text, file);
    const call = { action: "edit", input: { text: sent, ...definedOnly({ markdown, resolves }) } } as const;
    await review(cli, input, { call, question: "Send this text?", text: sent });
  },
});

const reject = defineCommand({
  description: "dismiss the draft without an answer",
  args: TICKET,
  options: { reason: option("--reason <text>", "reason, for operators"), ...REVIEW_OPTIONS },
  about: ABOUT_ASKING,
  examples: ['tickets reject order-42 --reason "Advertising."'],
  run: (cli, input) =>
    review(cli, input, {
      call: { action: "reject", input: definedOnly({ reason: input.reason }) },
      question: "Dismiss without an answer to the customer?",
    }),
});

const transcript = defineCommand({
  description: "print the conversation as text, without notes and drafts",
  args: TICKET,
  options: { project: projectOption },
  examples: ["tickets transcript order-42 > conversation.txt"],
  async run(cli, { ticket: named, project }) {
    const { filename, content } = await asAdministrator(cli, project, async (operations) =>
      operations.getTicketTranscript((await getTicketNamed(operations, named)).id),
    );
    const text = content.toString("utf8");
    cli.terminal.show({ ok: true, project, filename, text }, () => text.trimEnd());
  },
});

const note = defineCommand({
  description: "add an internal note, not visible to the customer",
  args: { ...TICKET, "[text]": "the note (default: --file or standard input)" },
  options: { file: option("--file <file>", "file with the note"), project: projectOption },
  examples: ['tickets note order-42 "She called; the address is right."'],
  async run(cli, input) {
    const text = await readText(cli, input.text, input.file);
    await runDecision(cli, input, { action: "note", input: { text } });
  },
});

const reply = defineCommand({
  description: "send a reply to the customer, even if no message is waiting",
  args: TEXT,
  options: {
    file: textFile,
    markdown: flag("--markdown", "the text is Markdown"),
    canned: option("--canned <name>", "canned reply to send instead of a text, with its actions").conflicts("file"),
    resolve: andResolve,
    project: projectOption,
  },
  examples: [
    'tickets reply order-42 "It arrives tomorrow."',
    "tickets reply order-42 --markdown --file answer.md",
    'tickets reply order-42 --canned "Refund sent"',
  ],
  async run(cli, input) {
    const { canned } = input;
    if (canned !== undefined) {
      if (input.text !== undefined) throw usageError("Pass either a text or --canned, not both.");
      return runDecision(cli, input, async (context) => {
        const operations = await bindOperations(context);
        const ticketId = await findTicketId(operations, input.ticket);
        const { id } = await getCannedReplyNamed(operations, canned);
        const { text, markdown, actions, resolves } = await operations.renderCannedReply(id, { ticketId });
        return { action: "reply", input: { text, markdown, actions, resolves: resolves || input.resolve === true } };
      });
    }
    const text = await readText(cli, input.text, input.file);
    const { markdown = false, resolve: resolves } = input;
    await runDecision(cli, input, { action: "reply", input: { text, markdown, ...definedOnly({ resolves }) } });
  },
});

const newTags: TypedOption<string[] | false | undefined> = repeatable("--tag <tag>", "tag; replaces all tags");

const update = defineCommand({
  description: "update the subject, priority or tags of a ticket",
  alias: "change",
  args: TICKET,
  options: {
    subject: option("--subject <text>", "subject"),
    priority: choice("--priority <priority>", "priority", ticketPrioritySchema.options),
    tag: newTags,
    noTag: flag("--no-tag", "remove all tags"),
    project: projectOption,
  },
  examples: ["tickets update order-42 --priority urgent --tag parcel --tag lost"],
  async run(cli, { ticket: named, subject, priority, tag, project }) {
    const change = definedOnly({ subject, priority, tags: tag === false ? [] : tag });
    if (Object.keys(change).length === 0) {
      throw usageError("Specify what to update, for example --priority. See: svc tickets update --help");
    }
    const item = await asAdministrator(cli, project, async (operations) => {
      const ticket = await getTicketNamed(operations, named);
      return operations.updateTicket({ id: ticket.id, versions: [ticket.version] }, change);
    });
    cli.terminal.show({ ok: true, project, item }, () => "Changed.");
  },
});

const assign = defineCommand({
  description: "assign the ticket",
  args: { ...TICKET, "<assignee>": "name of the operator" },
  options: { project: projectOption },
  examples: ["tickets assign order-42 ada@example.com"],
  run: (cli, input) => runDecision(cli, input, { action: "assign", input: { assignee: input.assignee } }),
});

const reroute = defineCommand({
  description: "route the ticket to another agent or project; future routing learns from it",
  args: TICKET,
  options: {
    agent: option("--agent <name>", "new agent in the project (default: none)"),
    toProject: option("--to-project <name>", "move the ticket to another project"),
    project: projectOption,
  },
  examples: ["tickets reroute order-42 --agent billing", "tickets reroute order-42 --to-project shop"],
  async run(cli, input) {
    const { agent, toProject, project } = input;
    if (agent === undefined && toProject === undefined) {
      throw usageError("Specify the destination with --agent or --to-project. See: svc tickets reroute --help");
    }
    await runDecision(cli, input, async ({ resources }) => {
      const { localPrincipal } = await import("../with-resources.ts");
      const principal = await localPrincipal(resources.store, toProject ?? project);
      const operations = await bindOperations({ principal, resources });
      const agentId = agent === undefined ? null : (await getAgent(operations, agent)).id;
      return { action: "reroute", input: { agentId, ...definedOnly({ project: toProject }) } };
    });
  },
});

const resolve = defineCommand({
  description: "close the ticket",
  args: TICKET,
  options: { spam: flag("--spam", "close it as spam"), project: projectOption },
  examples: ["tickets resolve order-42", "tickets resolve order-42 --spam"],
  run: (cli, input) =>
    runDecision(cli, input, { action: "resolve", input: input.spam === true ? { status: "spam" } : {} }),
});

const unassign = defineCommand({
  description: "unassign the ticket",
  args: TICKET,
  options: {
    keepDraft: flag("--keep-draft", "keep waiting messages and the draft for the next operator instead of the agent"),
    project: projectOption,
  },
  examples: ["tickets unassign order-42", "tickets unassign order-42 --keep-draft"],
  run: (cli, input) =>
    runDecision(cli, input, { action: "unassign", input: input.keepDraft === true ? { keepsDraft: true } : {} }),
});

const snooze = defineCommand({
  description: "take the ticket out of the inbox until a time, or until the customer writes",
  args: TICKET,
  options: {
    until: option(
      "--until <time>",
      "when the ticket returns, such as 2030-01-07T09:00:00Z (default: when the customer writes)",
    ),
    project: projectOption,
  },
  examples: ["tickets snooze order-42", "tickets snooze order-42 --until 2030-01-07T09:00:00Z"],
  run: (cli, input) => runDecision(cli, input, { action: "snooze", input: { until: input.until ?? null } }),
});

/** Returns the command of an action without input. */
const plain = (action: "regenerate" | "takeover" | "reopen" | "retry" | "unsnooze", description: string) =>
  defineCommand({
    description,
    args: TICKET,
    options: { project: projectOption },
    examples: [`tickets ${action} order-42`],
    run: (cli, input) => runDecision(cli, input, { action, input: {} }),
  });

/** `svc tickets`: conversations, and decisions of operators about them. */
export const tickets = defineCommand({
  usage: "<list|show|approve|edit|reject|…> [options]",
  commands: {
    list,
    show,
    transcript,
    approve,
    edit,
    reject,
    note,
    reply,
    update,
    assign,
    reroute,
    resolve,
    unassign,
    regenerate: plain("regenerate", "let the agent regenerate the draft"),
    takeover: plain("takeover", "take over the ticket: assign it to yourself, so that nothing is sent automatically"),
    reopen: plain("reopen", "reopen the ticket"),
    snooze,
    unsnooze: plain("unsnooze", "end the snooze of the ticket"),
    retry: plain("retry", "retry messages and replies that failed five times"),
  },
});
