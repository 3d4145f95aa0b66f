import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ExternalLink } from "lucide-react";
import type { TicketDetail } from "@svc/contracts";
import { conversationsQuery, customerQuery } from "../api/tickets.ts";
import { Conversations, CustomerFactRows, CustomerNotes, Fact } from "../customers/customer-facts.tsx";
import { IdText } from "../forms/copy-box.tsx";
import { useTexts } from "../i18n/texts.ts";
import { customerName } from "../inbox/describe-ticket.ts";
import { itemsOf } from "../lists/resource-page.tsx";
import { useProject, useServices } from "../session/services.ts";
import { Avatar, Badge } from "../ui/badge.tsx";
import { pageOf } from "./read-ticket.ts";

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
      {isStated && <p className="pb-1 text-xs text-faint">{t(`details.stated.${channelId}`)}</p>}
    </>
  );
}

/** The customer beside the conversation: identity, data, page, and other conversations. */
export function CustomerPanel({ ticket }: { ticket: TicketDetail }) {
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
