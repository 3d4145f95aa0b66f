import { z } from "zod";
import { projectNameSchema } from "./project.ts";
import { countChars, lineUpTo, wellFormedString } from "./well-formed.ts";

/** Bounds of operators. Characters are Unicode code points. */
export const OPERATOR_LIMITS = {
  nameMaxChars: 200,
  emailMaxChars: 254,
  passwordMinChars: 12,
  passwordMaxChars: 200,
  rolesMaxCount: 1_000,
} as const;

/** What somebody may do in a project: everything, answer customers, or look. */
export const operatorRoleSchema = z.enum(["administrator", "operator", "viewer"], {
  error: "one of administrator, operator, viewer",
});
export type OperatorRole = z.infer<typeof operatorRoleSchema>;

/** A role in one project, by its name, or in all of them (`*`). */
const roleSchema = z.strictObject({ project: z.union([z.literal("*"), projectNameSchema]), role: operatorRoleSchema });

/** A person who works with the product. The password is never shown. */
export const operatorSchema = z.object({
  id: z.uuid(),
  email: z.string(),
  name: z.string(),
  roles: z.array(z.object({ project: z.string(), role: operatorRoleSchema })),
  hasPassword: z.boolean(),
  createdAt: z.iso.datetime(),
  lastSeenAt: z.iso.datetime().nullable(),
  disabledAt: z.iso.datetime().nullable().describe("Since when this person may not sign in."),
  version: z.int(),
});
export type Operator = z.infer<typeof operatorSchema>;

/** What a link consists of with which an operator chooses a password. */
export const operatorLinkSchema = z.object({
  token: z.string().describe("To be put behind the console's address, as `/link#<token>`. It is shown this once."),
  expiresAt: z.iso.datetime(),
});
export type OperatorLink = z.infer<typeof operatorLinkSchema>;

const emailSchema = z
  .string()
  .max(OPERATOR_LIMITS.emailMaxChars, { error: `at most ${OPERATOR_LIMITS.emailMaxChars} characters` })
  .pipe(z.email({ error: "an e-mail address, as in ann@example.com" }));

const nameSchema = lineUpTo(OPERATOR_LIMITS.nameMaxChars);

const { passwordMinChars, passwordMaxChars } = OPERATOR_LIMITS;
/** A new password. */
export const operatorPasswordSchema = wellFormedString
  .refine((password) => countChars(password) >= passwordMinChars && countChars(password) <= passwordMaxChars, {
    error: `${passwordMinChars} to ${passwordMaxChars} characters`,
    params: { code: "invalid_password" },
  })
  .meta({ minLength: passwordMinChars, maxLength: passwordMaxChars });

const rolesSchema = z
  .array(roleSchema)
  .max(OPERATOR_LIMITS.rolesMaxCount, { error: `at most ${OPERATOR_LIMITS.rolesMaxCount} roles` })
  .superRefine((roles, context) => {
    const seen = new Set<string>();
    for (const [index, { project }] of roles.entries()) {
      if (seen.has(project)) {
        const message = "this project has a role already: one each";
        context.addIssue({ code: "custom", path: [index, "project"], message, params: { code: "repeated" } });
      }
      seen.add(project);
    }
  });

/** Body of `POST /api/v1/admin/operators`. Unknown fields are faults. */
export const operatorInputSchema = z.strictObject({
  email: emailSchema,
  name: nameSchema,
  roles: rolesSchema.optional().describe("None where absent."),
  password: operatorPasswordSchema
    .nullable()
    .optional()
    .describe("Null or absent: none yet, so this person cannot sign in by password."),
});
export type OperatorInput = z.infer<typeof operatorInputSchema>;

/** Body of `PATCH /api/v1/admin/operators/:id`: roles are replaced as a whole. Unknown fields are faults. */
export const operatorChangeSchema = z.strictObject({
  email: emailSchema.optional(),
  name: nameSchema.optional(),
  roles: rolesSchema.optional(),
  password: operatorPasswordSchema.nullable().optional().describe("Null takes the password away."),
  disabled: z.boolean({ error: "true or false" }).optional(),
});
export type OperatorChange = z.infer<typeof operatorChangeSchema>;
