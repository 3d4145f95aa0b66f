import {
  Outlet,
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from "@tanstack/react-router";
import { firstSection } from "../administration/sections.ts";
import { mayDo, sessionQuery } from "../api/session.ts";
import { needsFirstRun } from "../first-run/first-run-state.ts";
import { findView, readInboxSearch } from "../inbox/views.ts";
import { readOverviewSearch } from "../overview/overview-search.ts";
import type { Services } from "../session/services.ts";
import { ErrorPage, MissingPage, PageSkeleton } from "../ui/page-frame.tsx";
import { Shell } from "./shell.tsx";

const rootRoute = createRootRouteWithContext<Services>()({ component: Outlet, notFoundComponent: MissingPage });

/** The start page: redirects to the last project, or to the guide. */
const homeRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/",
  async beforeLoad({ context: { queryClient, connection, storage } }) {
    const session = await queryClient.ensureQueryData(sessionQuery(connection));
    if (session === null) throw redirect({ to: "/sign-in" });
    const last = storage.getItem("console.project");
    const project = (session.projects.find(({ name }) => name === last) ?? session.projects[0])?.name ?? "default";
    if (await needsFirstRun({ connection, storage }, session, project)) {
      throw redirect({ to: "/$project/start", params: { project } });
    }
    throw redirect({ to: "/$project/inbox/$view", params: { project, view: "review" } });
  },
});

const textOf = (value: unknown) => (typeof value === "string" ? value : undefined);

const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/sign-in",
  validateSearch: (search: Record<string, unknown>): { to?: string; fault?: string } => {
    const to = textOf(search["to"]);
    const error = textOf(search["fault"]);
    return {
      // Only a page of this console: never another site.
      ...(to !== undefined && /^\/(?![/\\])/.test(to) ? { to } : {}),
      ...(error === undefined ? {} : { fault: error }),
    };
  },
  component: lazyRouteComponent(() => import("../sign-in/sign-in-page.tsx"), "SignInPage"),
});

const linkRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/link",
  component: lazyRouteComponent(() => import("../sign-in/sign-in-page.tsx"), "LinkPage"),
});

const projectRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/$project",
  async beforeLoad({ context: { queryClient, connection, storage }, params: { project }, location: { href } }) {
    const session = await queryClient.ensureQueryData(sessionQuery(connection));
    if (session === null) throw redirect({ to: "/sign-in", search: { to: href } });
    if (session.projects.some(({ name }) => name === project)) storage.setItem("console.project", project);
  },
  component: Shell,
});

/** Leads to the tickets that wait for review. */
const toInbox = ({ params: { project } }: { params: { project: string } }) => {
  throw redirect({ to: "/$project/inbox/$view", params: { project, view: "review" } });
};

const projectHomeRoute = createRoute({ getParentRoute: () => projectRoute, path: "/", beforeLoad: toInbox });

const inboxHomeRoute = createRoute({ getParentRoute: () => projectRoute, path: "inbox", beforeLoad: toInbox });

const inboxRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "inbox/$view",
  validateSearch: readInboxSearch,
  beforeLoad({ params: { project, view } }) {
    if (findView(view) === null) throw redirect({ to: "/$project/inbox/$view", params: { project, view: "review" } });
  },
  component: lazyRouteComponent(() => import("../inbox/inbox-page.tsx"), "InboxPage"),
});

const ticketRoute = createRoute({
  getParentRoute: () => inboxRoute,
  path: "$ticketId",
  loader: ({ context: { texts } }: { context: Services }) => texts.need("ticket"),
  component: lazyRouteComponent(() => import("../ticket/ticket-page.tsx"), "TicketPage"),
});

/** Options of all pages except the inbox. Their texts are loaded when the first of them is opened. */
const PAGE = {
  getParentRoute: () => projectRoute,
  loader: ({ context: { texts } }: { context: Services }) => texts.need("pages"),
} as const;

/** Options of the pages of customers, which share texts with tickets. */
const CUSTOMERS = {
  getParentRoute: () => projectRoute,
  loader: ({ context: { texts } }: { context: Services }) => Promise.all([texts.need("ticket"), texts.need("pages")]),
} as const;

const administrationRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "administration",
  async beforeLoad({ context: { queryClient, connection }, params: { project } }) {
    const session = await queryClient.ensureQueryData(sessionQuery(connection));
    const section = firstSection((scope) => session !== null && mayDo(session, project, scope));
    throw redirect({ to: "/$project/administration/$section", params: { project, section } });
  },
});

const routeTree = rootRoute.addChildren([
  homeRoute,
  signInRoute,
  linkRoute,
  projectRoute.addChildren([
    projectHomeRoute,
    inboxHomeRoute,
    inboxRoute.addChildren([ticketRoute]),
    createRoute({
      ...PAGE,
      path: "start",
      component: lazyRouteComponent(() => import("../first-run/first-run-page.tsx"), "FirstRunPage"),
    }),
    createRoute({
      ...CUSTOMERS,
      path: "customers",
      component: lazyRouteComponent(() => import("../customers/customers-page.tsx"), "CustomersPage"),
    }),
    createRoute({
      ...CUSTOMERS,
      path: "customers/$customerId",
      component: lazyRouteComponent(() => import("../customers/customer-page.tsx"), "CustomerPage"),
    }),
    createRoute({
      ...PAGE,
      path: "knowledge",
      component: lazyRouteComponent(() => import("../knowledge/bases-page.tsx"), "BasesPage"),
    }),
    createRoute({
      ...PAGE,
      path: "knowledge/gaps",
      component: lazyRouteComponent(() => import("../knowledge/gaps-page.tsx"), "GapsPage"),
    }),
    createRoute({
      ...PAGE,
      path: "knowledge/proposals",
      component: lazyRouteComponent(() => import("../knowledge/proposals-page.tsx"), "ProposalsPage"),
    }),
    createRoute({
      ...PAGE,
      path: "knowledge/articles",
      component: lazyRouteComponent(() => import("../knowledge/articles-page.tsx"), "ArticlesPage"),
    }),
    createRoute({
      ...PAGE,
      path: "knowledge/articles/$articleId",
      component: lazyRouteComponent(() => import("../knowledge/article-page.tsx"), "ArticlePage"),
    }),
    createRoute({
      ...PAGE,
      path: "knowledge/$kbId",
      validateSearch: (search: Record<string, unknown>): { tab?: "search" } =>
        search["tab"] === "search" ? { tab: "search" } : {},
      component: lazyRouteComponent(() => import("../knowledge/kb-page.tsx"), "KbPage"),
    }),
    createRoute({
      ...PAGE,
      path: "agents",
      component: lazyRouteComponent(() => import("../agents/agents-page.tsx"), "AgentsPage"),
    }),
    createRoute({
      ...PAGE,
      path: "agents/$agentId",
      component: lazyRouteComponent(() => import("../agents/agent-page.tsx"), "AgentPage"),
    }),
    createRoute({
      ...PAGE,
      path: "integrations",
      component: lazyRouteComponent(() => import("../integrations/integrations-page.tsx"), "IntegrationsPage"),
    }),
    createRoute({
      ...PAGE,
      path: "integrations/$integration",
      component: lazyRouteComponent(() => import("../integrations/integration-page.tsx"), "IntegrationPage"),
    }),
    createRoute({
      ...PAGE,
      path: "notifications",
      component: lazyRouteComponent(() => import("../account/notifications-page.tsx"), "NotificationsPage"),
    }),
    administrationRoute,
    createRoute({
      ...PAGE,
      path: "administration/$section",
      component: lazyRouteComponent(() => import("../administration/administration-page.tsx"), "AdministrationPage"),
    }),
    createRoute({
      ...PAGE,
      path: "overview",
      validateSearch: readOverviewSearch,
      component: lazyRouteComponent(() => import("../overview/overview-page.tsx"), "OverviewPage"),
    }),
    createRoute({
      ...PAGE,
      path: "overview/reports",
      validateSearch: readOverviewSearch,
      component: lazyRouteComponent(() => import("../reports/reports-page.tsx"), "ReportsPage"),
    }),
  ]),
]);

/** Creates the router of the console's pages. The script of a page is loaded when it is first opened. */
export function createAppRouter(services: Services) {
  return createRouter({
    routeTree,
    context: services,
    defaultPendingComponent: PageSkeleton,
    defaultErrorComponent: ErrorPage,
    defaultNotFoundComponent: MissingPage,
    defaultPendingMs: 150,
    // The list of the inbox restores its own scroll position.
    scrollRestoration: false,
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
