import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ExternalLink, Pencil, X } from "lucide-react";
import { Tabs } from "radix-ui";
import type { ReactNode } from "react";
import type { Source, TicketDetail } from "@svc/contracts";
import { agentsQuery } from "../api/administration.ts";
import { conversationsQuery, customerQuery } from "../api/tickets.ts";
import { Conversations, CustomerFactRows, CustomerNotes, Fact } from "../customers/customer-facts.tsx";
import { IdText } from "../forms/copy-box.tsx";
import { useTexts } from "../i18n/texts.ts";
import { customerName, isTask, otherMeta, taskDue, taskPerson } from "../inbox/describe-ticket.ts";
import { channelOf, severityOf, StateMark } from "../inbox/ticket-marks.tsx";
import { itemsOf } from "../lists/resource-page.tsx";
import { usePeople, useProject, useServices, useTagColor } from "../session/services.ts";
import { Avatar, Badge, TagChip } from "../ui/badge.tsx";
import { IconButton } from "../ui/button.tsx";
import { flattenValues, pageOf } from "./read-ticket.ts";
import type { TicketDialog } from "./ticket-dialogs.tsx";
import { Trace } from "./trace.tsx";

/** Number of earlier conversations in the panel; the page of the customer has all. */
const EARLIER_COUNT = 5;

/**
 * The page on which the customer wrote, or the referring page. The URL is set by the visitor, so it opens without a
 * referrer.
 */
function PageLink({ url, title }: { url: string; title: string }) {
  return (
    <a
      href={url}
      title={url}
      target="_blank"
      rel="noopener noreferrer nofollow"
      className="inline-flex max-w-full items-center gap-1 text-accent hover:underline"
    >
      <bdi className="truncate">{title}</bdi>
      <ExternalLink aria-hidden className="size-3 shrink-0" />
    </a>
  );
}

/** Other conversations of the customer of a ticket. */
function EarlierConversations({ customerId, ticketId }: { customerId: string; ticketId: string }) {
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const query = useInfiniteQuery(conversationsQuery(connection, project, customerId, EARLIER_COUNT + 1));
  const others = itemsOf(query)
    .filter(({ id }) => id !== ticketId)
    .slice(0, EARLIER_COUNT);
  if (others.length === 0) return null;
  return (
    <section aria-label={t("customer.conversations")} className="pt-2">
      <h4 className="text-xs text-muted">{t("customer.conversations")}</h4>
      <Conversations tickets={others} />
    </section>
  );
}

/** Initials, name and email address of the customer; the name links to the page of the customer. */
function CustomerHead({ ticket }: { ticket: TicketDetail }) {
  const { t } = useTexts();
  const project = useProject();
  const { channelId, customer } = ticket;
  const name = customerName(ticket, t);
  const id = customer?.id ?? null;
  const isStated = customer !== null && (customer.name !== null || customer.email !== null);
  return (
    <>
      <div className="flex items-center gap-3 py-2">
        <Avatar name={name} size="large" />
        <div className="min-w-0">
          {id === null ? (
            <bdi className="block truncate text-sm font-semibold">{name}</bdi>
          ) : (
            <Link
              to="/$project/customers/$customerId"
              params={{ project, customerId: id }}
              className="block truncate text-sm font-semibold hover:underline"
            >
              <bdi>{name}</bdi>
            </Link>
          )}
          {customer?.email != null && customer.email !== name && (
            <bdi className="block truncate text-xs text-muted">{customer.email}</bdi>
          )}
        </div>
      </div>
      {isStated && <p className="pb-1 text-xs text-faint">{t(`stated.${channelId}`)}</p>}
    </>
  );
}

/** The customer beside the conversation: identity, data, page, and other conversations. */
function CustomerPanel({ ticket }: { ticket: TicketDetail }) {
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const { channelId, channel_meta: meta, customer, userId } = ticket;
  const id = customer?.id ?? null;
  const { data } = useQuery({ ...customerQuery(connection, project, id ?? ""), enabled: id !== null });
  const pages = [
    [t("customer.page"), pageOf(meta["page"])],
    [t("customer.referrer"), pageOf(meta["referrer"])],
  ] as const;
  return (
    <>
      <CustomerHead ticket={ticket} />
      <dl>
        {userId !== null && (
          <Fact label={t("details.userId")}>
            <IdText label={t("details.userId")} text={userId} />
            {/* The widget accepts a user id only with its signature. */}
            {channelId === "widget" && (
              <span title={t("details.verifiedHint")}>
                <Badge tone="ok">{t("details.verified")}</Badge>
              </span>
            )}
          </Fact>
        )}
        {pages.map(
          ([label, page]) =>
            page !== null && (
              <Fact key={label} label={label}>
                <PageLink {...page} />
              </Fact>
            ),
        )}
        {data !== undefined && data.externalId !== null && ![userId, data.email].includes(data.externalId) && (
          <Fact label={t("customer.externalId")}>
            <IdText label={t("customer.externalId")} text={data.externalId} />
          </Fact>
        )}
        {/* The language of the conversation is shown separately. */}
        {data !== undefined && <CustomerFactRows customer={{ ...data, language: null }} />}
      </dl>
      {data?.isBlocked === true && <Badge tone="bad">{t("customer.blocked")}</Badge>}
      {data !== undefined && (
        <section aria-label={t("customer.notes")} className="pt-2">
          <h4 className="pb-1 text-xs text-muted">{t("customer.notes")}</h4>
          <CustomerNotes customer={data} />
        </section>
      )}
      {id !== null && <EarlierConversations customerId={id} ticketId={ticket.id} />}
    </>
  );
}

const Head = ({ children }: { children: ReactNode }) => (
  <h3 className="pt-4 pb-1 text-2xs font-semibold text-faint">{children}</h3>
);

/** Source, severity, assignee and due date of a task. */
function TaskFacts({ ticket }: { ticket: TicketDetail }) {
  const { t, day } = useTexts();
  const { channel_meta: meta } = ticket;
  const due = taskDue(ticket);
  const severity = severityOf(meta["severity"]);
  const { source } = meta;
  return (
    <>
      <Fact label={t("details.source")}>{typeof source === "string" ? source : "–"}</Fact>
      <Fact label={t("details.severity")}>{severity === null ? "–" : t(`priority.${severity}`)}</Fact>
      <Fact label={t("details.person")}>{taskPerson(ticket) ?? "–"}</Fact>
      <Fact label={t("details.due")}>{due === null ? "–" : day(due)}</Fact>
    </>
  );
}

const TAB =
  "h-8 rounded-md px-2.5 text-xs font-medium text-muted hover:text-ink data-[state=active]:bg-hover data-[state=active]:text-ink";

/** The properties of the ticket, each with a button that changes it. */
function TicketFacts({ ticket, onEdit }: { ticket: TicketDetail; onEdit: ((dialog: TicketDialog) => void) | null }) {
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const { nameOf } = usePeople();
  const { data: agents = [] } = useQuery(agentsQuery(connection, project));
  const agent = agents.find(({ id }) => id === ticket.agentId)?.name;
  const { assignee, tags } = ticket;
  const colorOf = useTagColor();
  const edit = (dialog: "assign" | "reroute" | "change") =>
    onEdit !== null && (
      <IconButton
        icon={Pencil}
        size="small"
        label={t(`action.${dialog}`)}
        className="-my-1 ml-1 align-middle"
        onClick={() => onEdit(dialog)}
      />
    );
  return (
    <dl>
      <Fact label={t("details.state")}>
        <StateMark ticket={ticket} />
      </Fact>
      <Fact label={t("filter.assignee")}>
        {assignee === null ? t("filter.nobody") : nameOf(assignee)}
        {edit("assign")}
      </Fact>
      <Fact label={t("filter.agentId")}>
        {agent ?? t("reroute.noAgent")}
        {edit("reroute")}
      </Fact>
      <Fact label={t("filter.priority")}>
        {t(`priority.${ticket.priority}`)}
        {edit("change")}
      </Fact>
      <Fact label={t("ticket.tags")}>
        {tags.length === 0 ? (
          "–"
        ) : (
          <span className="inline-flex max-w-full flex-wrap gap-1">
            {tags.map((tag) => (
              <TagChip key={tag} name={tag} color={colorOf(tag, ticket.project)} />
            ))}
          </span>
        )}
        {edit("change")}
      </Fact>
    </dl>
  );
}

/** Metadata that the panel of the customer does not show. */
const furtherMeta = (ticket: TicketDetail) =>
  otherMeta(ticket).filter(
    ([name, value]) => isTask(ticket) || !["page", "referrer"].includes(name) || pageOf(value) === null,
  );

/** The task, the channel, other metadata, and possible duplicates. */
function OriginFacts({ ticket }: { ticket: TicketDetail }) {
  const { dateTime, languageName, t } = useTexts();
  const project = useProject();
  const { firstReplyAt, language, possibleDuplicates: duplicates } = ticket;
  const meta = flattenValues(Object.fromEntries(furtherMeta(ticket)));
  return (
    <>
      <Head>{t(isTask(ticket) ? "task.title" : "details.origin")}</Head>
      <dl>
        {isTask(ticket) && <TaskFacts ticket={ticket} />}
        <Fact label={t("filter.channelId")}>{t(channelOf(ticket).title)}</Fact>
        <Fact label={t("details.chat")}>
          <IdText label={t("details.chat")} text={ticket.chatId} />
        </Fact>
        <Fact label={t("filter.language")}>{language === null ? "–" : languageName(language)}</Fact>
        <Fact label={t("details.created")}>{dateTime(ticket.createdAt)}</Fact>
        <Fact label={t("details.firstReply")}>{firstReplyAt === null ? "–" : dateTime(firstReplyAt)}</Fact>
      </dl>
      {meta.length > 0 && (
        <>
          <Head>{t("details.meta")}</Head>
          <dl>
            {meta.map(({ label, text }) => (
              <Fact key={label} label={label}>
                {text}
              </Fact>
            ))}
          </dl>
        </>
      )}
      {duplicates.length > 0 && (
        <>
          <Head>{t("details.duplicates")}</Head>
          <ul>
            {duplicates.map(({ status, stage, subject, ticketId }) => (
              <li key={ticketId} className="flex items-center gap-2 py-1">
                <Link
                  to="/$project/inbox/$view/$ticketId"
                  params={{ project, view: "all", ticketId }}
                  className="min-w-0 flex-1 truncate text-sm text-accent underline"
                >
                  {subject}
                </Link>
                <StateMark ticket={{ status, stage }} />
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

/** The metadata of a ticket, and the trace of the pipeline. */
export function DetailsPanel({
  ticket,
  isOpen,
  onSource,
  onEdit,
  onClose,
}: {
  ticket: TicketDetail;
  /** Whether it is shown if the ticket is too narrow to show it permanently. */
  isOpen: boolean;
  onSource: (source: Source) => void;
  /** Opens the dialog for a field. Null if the operator may only read. */
  onEdit: ((dialog: TicketDialog) => void) | null;
  onClose: () => void;
}) {
  const { t } = useTexts();
  return (
    <aside
      aria-label={t("details.title")}
      data-open={isOpen ? "" : undefined}
      className={`w-80 shrink-0 flex-col border-l border-line bg-surface @max-5xl:w-72 @max-xl:w-60 @max-lg:absolute @max-lg:inset-0 @max-lg:z-10 @max-lg:w-full @max-lg:border-l-0 ${isOpen ? "flex" : "hidden @5xl:flex"}`}
    >
      <Tabs.Root defaultValue="facts" className="flex min-h-0 flex-1 flex-col">
        <div className="flex items-center gap-1 border-b border-line px-3 py-2">
          <Tabs.List aria-label={t("details.title")} className="flex flex-1 gap-1">
            {(["facts", "trace"] as const).map((tab) => (
              <Tabs.Trigger key={tab} value={tab} className={TAB}>
                {t(`details.${tab}`)}
              </Tabs.Trigger>
            ))}
          </Tabs.List>
          <IconButton icon={X} label={t("ui.close")} className="@5xl:hidden" onClick={onClose} />
        </div>
        <Tabs.Content value="facts" className="min-h-0 flex-1 overflow-y-auto px-4 pb-6">
          {!isTask(ticket) && (
            <>
              <Head>{t("details.customer")}</Head>
              <CustomerPanel ticket={ticket} />
            </>
          )}
          <Head>{t("details.ticket")}</Head>
          <TicketFacts ticket={ticket} onEdit={onEdit} />
          <OriginFacts ticket={ticket} />
        </Tabs.Content>
        <Tabs.Content value="trace" className="min-h-0 flex-1 overflow-y-auto px-4 pb-6">
          <Trace ticket={ticket} onSource={onSource} />
        </Tabs.Content>
      </Tabs.Root>
    </aside>
  );
}
