import {
  Outlet,
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from "@tanstack/react-router";
import { mayDo, sessionQuery } from "../api/session.ts";
import { needsFirstRun } from "../first-run/first-run-state.ts";
import { readInboxSearch } from "../inbox/inbox-search.ts";
import { findView } from "../inbox/views.ts";
import { readOverviewSearch } from "../overview/overview-search.ts";
import type { Services } from "../session/services.ts";
import { ErrorPage, MissingPage, PageSkeleton } from "../ui/error-page.tsx";
import { Shell } from "./shell.tsx";

const rootRoute = createRootRouteWithContext<Services>()({ component: Outlet, notFoundComponent: MissingPage });

/** Where one comes to without saying where to go. */
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
    const fault = textOf(search["fault"]);
    return {
      // Only a page of this console: never another site.
      ...(to !== undefined && /^\/(?![/\\])/.test(to) ? { to } : {}),
      ...(fault === undefined ? {} : { fault }),
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

const projectHomeRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/",
  beforeLoad({ params: { project } }) {
    throw redirect({ to: "/$project/inbox/$view", params: { project, view: "review" } });
  },
});

/** The texts of all pages but the inbox come when one of them is first opened: the inbox does not wait for them. */
const loader = ({ context: { texts } }: { context: Services }) => texts.needPages();

const firstRunRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "start",
  loader,
  component: lazyRouteComponent(() => import("../first-run/first-run-page.tsx"), "FirstRunPage"),
});

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
  component: lazyRouteComponent(() => import("../ticket/ticket-page.tsx"), "TicketPage"),
});

const knowledgeRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "knowledge",
  loader,
  component: lazyRouteComponent(() => import("../knowledge/bases-page.tsx"), "BasesPage"),
});

const gapsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "knowledge/gaps",
  loader,
  component: lazyRouteComponent(() => import("../knowledge/gaps-page.tsx"), "GapsPage"),
});

const proposalsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "knowledge/proposals",
  loader,
  component: lazyRouteComponent(() => import("../knowledge/proposals-page.tsx"), "ProposalsPage"),
});

const kbRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "knowledge/$kbId",
  validateSearch: (search: Record<string, unknown>): { tab?: "search" } =>
    search["tab"] === "search" ? { tab: "search" } : {},
  loader,
  component: lazyRouteComponent(() => import("../knowledge/kb-page.tsx"), "KbPage"),
});

const agentsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "agents",
  loader,
  component: lazyRouteComponent(() => import("../agents/agents-page.tsx"), "AgentsPage"),
});

const agentRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "agents/$agentId",
  loader,
  component: lazyRouteComponent(() => import("../agents/agent-page.tsx"), "AgentPage"),
});

const overviewRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "overview",
  validateSearch: readOverviewSearch,
  loader,
  component: lazyRouteComponent(() => import("../overview/overview-page.tsx"), "OverviewPage"),
});

const integrationsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "integrations",
  loader,
  component: lazyRouteComponent(() => import("../integrations/integrations-page.tsx"), "IntegrationsPage"),
});

const integrationRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "integrations/$integration",
  loader,
  component: lazyRouteComponent(() => import("../integrations/integration-page.tsx"), "IntegrationPage"),
});

const administrationRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "administration",
  async beforeLoad({ context: { queryClient, connection }, params: { project } }) {
    const session = await queryClient.ensureQueryData(sessionQuery(connection));
    const section = session !== null && mayDo(session, project, "admin:*") ? "keys" : "deliveries";
    throw redirect({ to: "/$project/administration/$section", params: { project, section } });
  },
});

const administrationSectionRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "administration/$section",
  loader,
  component: lazyRouteComponent(() => import("../administration/administration-page.tsx"), "AdministrationPage"),
});

const routeTree = rootRoute.addChildren([
  homeRoute,
  signInRoute,
  linkRoute,
  projectRoute.addChildren([
    projectHomeRoute,
    inboxRoute.addChildren([ticketRoute]),
    firstRunRoute,
    knowledgeRoute,
    gapsRoute,
    proposalsRoute,
    kbRoute,
    agentsRoute,
    agentRoute,
    integrationsRoute,
    integrationRoute,
    administrationRoute,
    administrationSectionRoute,
    overviewRoute,
  ]),
]);

/** The pages of the console by their addresses. Each page's script is fetched when it is first opened. */
export function createAppRouter(services: Services) {
  return createRouter({
    routeTree,
    context: services,
    defaultPendingComponent: PageSkeleton,
    defaultErrorComponent: ErrorPage,
    defaultNotFoundComponent: MissingPage,
    defaultPendingMs: 150,
    // The list of the inbox keeps its own place.
    scrollRestoration: false,
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
