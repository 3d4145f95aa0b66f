-- Up Migration

-- Questions that found no good answer, those that ask the same as one row.
CREATE TABLE gaps (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  -- The question as it was asked first, and the message that asked it.
  question text NOT NULL,
  question_message_id uuid NOT NULL,
  -- ISO 639-1; NULL where it is not clear.
  language text,
  -- What it is compared by: the stems of its words that say what it is about.
  terms text[] NOT NULL,
  -- Who should have answered when it was asked last; NULL when no agent fitted.
  agent_id uuid,
  count integer NOT NULL DEFAULT 1,
  -- open, answered or ignored.
  status text NOT NULL DEFAULT 'open',
  -- The article that was written for it.
  kb_id uuid,
  document_id uuid,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX gaps_by_count ON gaps (project_id, count DESC, id DESC);
CREATE INDEX gaps_by_time ON gaps (project_id, last_at DESC, id DESC);

-- In which gaps a term stands, so that a question finds those like it without reading all.
CREATE TABLE gap_terms (
  project_id uuid NOT NULL,
  term text NOT NULL,
  gap_id uuid NOT NULL REFERENCES gaps (id) ON DELETE CASCADE,
  PRIMARY KEY (project_id, term, gap_id)
);
CREATE INDEX gap_terms_of_gap ON gap_terms (gap_id);

-- The messages of a gap. Every one stays, so that a message which is worked on again counts once; the text only of the
-- newest.
CREATE TABLE gap_examples (
  message_id uuid PRIMARY KEY,
  project_id uuid NOT NULL,
  gap_id uuid NOT NULL REFERENCES gaps (id) ON DELETE CASCADE,
  ticket_id uuid NOT NULL,
  text text,
  -- As in gaps, of this message; NULL where the text is.
  terms text[],
  at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX gap_examples_of_gap ON gap_examples (gap_id, at DESC, message_id DESC);
CREATE INDEX gap_examples_of_ticket ON gap_examples (ticket_id);

-- Changes to knowledge bases that somebody has to decide on.
CREATE TABLE proposals (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  kb_id uuid NOT NULL,
  -- The document that is changed or added to; NULL for a new article.
  document_id uuid,
  -- The conversation that it comes from; NULL where it comes from none.
  ticket_id uuid,
  -- replace: `after` in the place of `before`; add: an article of its own.
  action text NOT NULL,
  title text NOT NULL,
  question text,
  before text NOT NULL,
  after text NOT NULL,
  -- SHA-256 of what the document's passages were made from when this was proposed.
  base_hash bytea,
  -- open, accepted or rejected.
  status text NOT NULL DEFAULT 'open',
  reason text,
  created_at timestamptz NOT NULL DEFAULT now(),
  created_by text NOT NULL,
  decided_at timestamptz,
  decided_by text,
  -- What an accepted one has become.
  result_document_id uuid,
  version integer NOT NULL DEFAULT 1
);
CREATE INDEX proposals_of_project ON proposals (project_id, id);
CREATE INDEX proposals_of_ticket ON proposals (ticket_id) WHERE ticket_id IS NOT NULL;

-- Texts that operators send again and again.
CREATE TABLE canned_replies (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  name text NOT NULL,
  -- Markdown with variables as in {{ticket.subject}}.
  text text NOT NULL,
  folder text,
  tags text[] NOT NULL DEFAULT '{}',
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (project_id, name)
);
