import type { Cli } from "../cli.ts";
import { CliError } from "../cli-error.ts";
import { confirm } from "../confirm.ts";
import { EXIT } from "../exit-codes.ts";
import { localPrincipal } from "../local-principal.ts";
import { withResources } from "../with-resources.ts";
import { findTicket } from "./find-ticket.ts";
import { readText } from "./read-text.ts";
import { renderQuestion, renderText } from "./render-ticket.ts";
import { DONE, decide } from "./run-decision.ts";
import type { DecisionCall } from "./run-decision.ts";

/** What `tickets approve|edit|reject` are told besides. */
export interface ReviewOptions {
  project: string;
  yes?: true;
  /** The version that was looked at. */
  seen?: number;
}

/** What is about to be done, and what speaks for asking. */
interface Review {
  call: DecisionCall;
  question: string;
  /** A text that goes out in the draft's place. */
  text?: string;
}

/** Shows what waits and asks, unless that was done before; then decides about exactly what was seen. */
async function review(cli: Cli, named: string, options: ReviewOptions, { call, question, text }: Review) {
  const { project, yes, seen } = options;
  if (yes === true && seen === undefined) {
    throw new CliError(
      "usage",
      EXIT.usage,
      "With --yes, pass the version that you have reviewed with --seen, as shown by tickets show. This prevents sending over " +
        "a newer message.",
    );
  }
  const item = await withResources(cli, {}, async (resources) => {
    const principal = await localPrincipal(resources.store, project);
    const ticket = await findTicket(resources.store, principal, named);
    // Without a draft there is nothing to send: that is refused by the operation, which says what to do instead.
    const isAsked = ticket.draft !== null || call.action === "reject";
    if (yes !== true && isAsked) {
      const { paint } = cli.terminal;
      cli.terminal.note(renderQuestion(ticket, paint));
      if (text !== undefined) cli.terminal.note(`\nNew text\n${renderText(text)}`);
      const instead = `--yes --seen ${ticket.version}`;
      if (!(await confirm(cli, `\n${question}`, instead))) return null;
    }
    return decide(resources, principal, ticket.id, call, [seen ?? ticket.version]);
  });
  const { action } = call;
  cli.terminal.show({ ok: item !== null, project, action, item }, () =>
    item === null ? "No decision was made." : DONE[action],
  );
}

/** `svc tickets approve`: sends the draft as it is. */
export function runApprove(cli: Cli, named: string, options: ReviewOptions): Promise<void> {
  return review(cli, named, options, { call: { action: "approve", input: {} }, question: "Send this draft?" });
}

/** What `tickets edit` is told. */
export interface EditOptions extends ReviewOptions {
  file?: string;
  /** Whether the text is Markdown; as the draft where nothing is said. */
  markdown?: boolean;
}

/** `svc tickets edit`: sends another text in the draft's place. */
export async function runEdit(cli: Cli, named: string, text: string | undefined, options: EditOptions): Promise<void> {
  const { file, markdown, yes } = options;
  const isPiped = text === undefined && (file === undefined || file === "-");
  if (isPiped && yes !== true) {
    throw new CliError(
      "usage",
      EXIT.usage,
      "Pass the text as an argument or with --file. From standard input, it requires --yes and --seen, because confirmation is not possible.",
    );
  }
  const sent = await readText(cli, text, file);
  await review(cli, named, options, {
    call: { action: "edit", input: { text: sent, ...(markdown === undefined ? {} : { markdown }) } },
    question: "Send this text?",
    text: sent,
  });
}

/** `svc tickets reject`: ends what waits without an answer. */
export function runReject(cli: Cli, named: string, options: ReviewOptions & { reason?: string }): Promise<void> {
  const { reason } = options;
  return review(cli, named, options, {
    call: { action: "reject", input: reason === undefined ? {} : { reason } },
    question: "Dismiss without an answer to the customer?",
  });
}
