-- Up Migration

-- When the team of a project works, as `businessHoursSchema` of packages/contracts has it; NULL: always.
ALTER TABLE projects ADD COLUMN business_hours jsonb;
-- Minutes within which it usually replies then; NULL: unknown.
ALTER TABLE projects ADD COLUMN reply_time_minutes integer;
