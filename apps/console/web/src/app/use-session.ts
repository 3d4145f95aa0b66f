import type { RequiredScope } from "@svc/contracts";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { mayDo, sessionQuery } from "../api/session.ts";
import type { Session } from "../api/session.ts";
import { useServices } from "./services.ts";

/** Who is signed in. For components within the shell, which is shown to nobody else. */
export function useSession(): Session {
  const { connection } = useServices();
  const { data } = useQuery(sessionQuery(connection));
  if (data === null || data === undefined) throw new Error("useSession is for pages of those who are signed in.");
  return data;
}

/** Name of the project that is worked on. */
export const useProject = (): string => useParams({ from: "/$project" }).project;

/** Tells what may be done in the project that is worked on. */
export function useRights(): (scope: RequiredScope) => boolean {
  const session = useSession();
  const project = useProject();
  return (scope) => mayDo(session, project, scope);
}
