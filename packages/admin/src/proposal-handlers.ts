import type { ProposalInput, ProposalRejection, proposalEndpoints } from "@svc/contracts";
import { acceptProposal, createProposal, getProposal, listProposals, rejectProposal } from "@svc/operations";
import type { ProposalListInput } from "@svc/operations";
import type { AdminHandlers } from "./admin-handler.ts";

/** Proposed changes to knowledge bases. */
export const proposalHandlers: AdminHandlers<typeof proposalEndpoints> = {
  async listProposals(context, { principal, listQuery, query }) {
    const input = { ...listQuery(), status: query("status"), kbId: query("kbId") } as ProposalListInput;
    return { list: await listProposals(context, principal, input) };
  },
  async createProposal(context, { principal, body }) {
    const item = await createProposal(context, principal, (await body()) as ProposalInput);
    return { item, location: `/api/v1/admin/proposals/${item.id}`, version: item.version };
  },
  async getProposal(context, { principal, param }) {
    const item = await getProposal(context, principal, param());
    return { item, version: item.version };
  },
  async acceptProposal(context, { principal, param, ifMatch }) {
    const item = await acceptProposal(context, principal, param(), ifMatch());
    return { item, version: item.version };
  },
  async rejectProposal(context, { principal, param, body, ifMatch }) {
    const item = await rejectProposal(context, principal, param(), (await body()) as ProposalRejection, ifMatch());
    return { item, version: item.version };
  },
};
