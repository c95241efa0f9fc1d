-- The state database of one brain: the queue, its verdicts, the audit log, approvals and what the writer last left on
-- disk. It is the sum of migrations/ (a test holds that). Deleting it loses queued writes and history, never a memory
-- that was confirmed.

-- One write. `payload` holds the content only until the verdict; then it is cleared.
CREATE TABLE jobs (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,           -- order of the queue
    id          TEXT NOT NULL UNIQUE,
    request     TEXT UNIQUE,                                 -- role and requestId, when the caller gave one
    line        TEXT NOT NULL,
    tool        TEXT NOT NULL,
    role        TEXT,
    heartbeat   TEXT,
    actor       TEXT NOT NULL,                               -- agent, person or engine
    payload     TEXT,                                        -- JSON; NULL once done
    created_at  TEXT NOT NULL,                               -- ISO instant: decides day and time of the entry
    state       TEXT NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'running', 'done')),
    batch       TEXT,                                        -- the batch that runs or ran it: the id of its first job
    resumed     INTEGER NOT NULL DEFAULT 0,                  -- 1 after a crash: what is in effect already counts as done
    verdict     TEXT,                                        -- JSON; planned while running, final when done
    finished_at TEXT
) STRICT;
CREATE INDEX jobs_open ON jobs (seq) WHERE state <> 'done';
CREATE INDEX jobs_finished ON jobs (finished_at) WHERE state = 'done';

-- The recorded intent of a batch: one row for each file that it changes. The rows outlive the batch until its
-- temporary files are gone.
CREATE TABLE changes (
    batch       TEXT NOT NULL,
    path        TEXT NOT NULL,
    temp        TEXT NOT NULL,                               -- name of the temporary file beside it
    hash_before TEXT NOT NULL,                               -- SHA-256, or 'absent'
    hash_after  TEXT NOT NULL,
    PRIMARY KEY (batch, path)
) STRICT, WITHOUT ROWID;

-- The action log: one row for each attempt to change memory, never with its content.
CREATE TABLE audit (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    at          TEXT NOT NULL,
    actor       TEXT NOT NULL,
    role        TEXT,
    heartbeat   TEXT,
    tool        TEXT NOT NULL,
    line        TEXT,
    paths       TEXT NOT NULL,                               -- JSON list
    outcome     TEXT NOT NULL,
    chars       INTEGER NOT NULL,                            -- UTF-16 units of the content that was offered
    job         TEXT
) STRICT;
CREATE INDEX audit_line ON audit (line, id);

-- What happened, for hooks and listeners: written in the same transaction as the verdict.
CREATE TABLE events (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    at          TEXT NOT NULL,
    name        TEXT NOT NULL,
    payload     TEXT NOT NULL
    , heartbeat TEXT)                                        -- heartbeat or hook whose turn caused it
STRICT;

-- Deletions that wait for a person.
CREATE TABLE approvals (
    id          TEXT PRIMARY KEY,
    at          TEXT NOT NULL,
    role        TEXT,
    heartbeat   TEXT,
    line        TEXT NOT NULL,
    tool        TEXT NOT NULL,
    arguments   TEXT NOT NULL,                               -- JSON
    hash        TEXT NOT NULL,                               -- of the file when the deletion was asked for
    state       TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'approved', 'refused', 'outdated')),
    decided_at  TEXT
) STRICT, WITHOUT ROWID;

-- What the writer last left under a path, and the text that it added lately: enough to notice a stale save by an
-- editor that drops a confirmed entry.
CREATE TABLE files (
    path        TEXT PRIMARY KEY,
    hash        TEXT NOT NULL,
    at          TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE additions (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    path        TEXT NOT NULL,
    text        TEXT NOT NULL,
    at          TEXT NOT NULL,
    own         INTEGER NOT NULL DEFAULT 1                   -- 0 for a person's text that readers may have missed
) STRICT;
CREATE INDEX additions_path ON additions (path, id);

-- One conversation of an agent, and what memory it has been shown: so that a restart sends nothing twice
-- (ENVELOPE-O7). Losing it costs one more delivery, never a memory.
CREATE TABLE sessions (
    id          TEXT PRIMARY KEY,
    role        TEXT NOT NULL,
    started_at  TEXT NOT NULL,
    used_at     TEXT NOT NULL,
    first_turn  INTEGER NOT NULL DEFAULT 0,                  -- oldest turn that is still sent; 0: none was left out
    most_bytes  INTEGER,                                     -- how much the next turn may be sent; NULL: as usual
    removed     INTEGER NOT NULL DEFAULT 0                   -- turns that are here no more
    , compacted INTEGER NOT NULL DEFAULT 0,                  -- compactions that a host has announced
    reopened    INTEGER NOT NULL DEFAULT 0)                  -- how many of them a delivery has answered
STRICT, WITHOUT ROWID;
CREATE INDEX sessions_used ON sessions (used_at);
CREATE TABLE session_blocks (
    session     TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    carrier     TEXT NOT NULL CHECK (carrier IN ('harness', 'model')),  -- whose conversation it was sent into
    name        TEXT NOT NULL,                               -- agent-memory, agent-memory-periods, ...
    place       TEXT NOT NULL,                               -- path or line of the block; '' for one that has neither
    hash        TEXT NOT NULL,                               -- SHA-256 of the text that was sent
    at          TEXT NOT NULL,
    PRIMARY KEY (session, carrier, name, place)
) STRICT, WITHOUT ROWID;

-- What was said in a session that omnislash itself runs a model in: one row for each turn.
CREATE TABLE session_turns (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    session     TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    at          TEXT NOT NULL,
    messages    TEXT NOT NULL,                               -- JSON list of messages
    size        INTEGER NOT NULL                             -- bytes of them in UTF-8
) STRICT;
-- With the size in it, so that sizes are read without the messages.
CREATE INDEX session_turns_session ON session_turns (session, id, size);

-- How far each schedule was looked at: what came due behind it is made up for, or noted as missed.
CREATE TABLE beats (
    id          TEXT PRIMARY KEY,
    schedule    TEXT NOT NULL,
    timezone    TEXT NOT NULL,
    looked_at   TEXT NOT NULL                                -- ISO instant in UTC
) STRICT, WITHOUT ROWID;

-- Runs of heartbeats and hooks. The key makes a run happen once, however many workers look.
CREATE TABLE runs (
    key         TEXT PRIMARY KEY,
    kind        TEXT NOT NULL CHECK (kind IN ('heartbeat', 'hook')),
    beat        TEXT NOT NULL,
    role        TEXT NOT NULL,
    line        TEXT,
    due_at      TEXT NOT NULL,                               -- ISO instant in UTC
    started_at  TEXT NOT NULL,
    finished_at TEXT,
    outcome     TEXT NOT NULL DEFAULT 'running'
        CHECK (outcome IN ('running', 'done', 'failed', 'skipped', 'missed', 'interrupted')),
    message     TEXT NOT NULL DEFAULT '',                    -- why it failed, was skipped or missed
    session     TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_beat ON runs (beat, due_at);
CREATE INDEX runs_open ON runs (outcome) WHERE outcome = 'running';

-- The last event that each hook was handed, and how many records of each transcript were reviewed.
CREATE TABLE cursors (
    name        TEXT PRIMARY KEY,
    value       INTEGER NOT NULL,
    used_at     TEXT,                                        -- ISO instant in UTC; NULL for a hook's
    tried       INTEGER                                      -- records that a review had read when it failed
) STRICT, WITHOUT ROWID;

-- What brain-sync came to, the newest last: `omnislash sync status` shows it. Losing it costs nothing.
CREATE TABLE syncs (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    at          TEXT NOT NULL,                               -- ISO instant in UTC
    outcome     TEXT NOT NULL CHECK (outcome IN ('done', 'nothing', 'stopped', 'failed')),
    message     TEXT NOT NULL,
    head        TEXT,                                        -- the commit that the branch stood on afterwards
    audit       INTEGER NOT NULL DEFAULT 0                   -- the newest audit row that its commits have told of
) STRICT;

-- Where a commit has told of newer audit rows than `syncs.audit` says: brain-sync commits some files before others.
CREATE TABLE told (
    path        TEXT PRIMARY KEY,                            -- of the memory file, below memory/
    audit       INTEGER NOT NULL                             -- the newest audit row that a commit of it has told of
) STRICT, WITHOUT ROWID;

-- Transcripts that wait for their review (FLUSH-04). A row goes when its review is over; one that a crash left behind is
-- reviewed by whoever looks next. Losing it costs the review of what the session said last.
CREATE TABLE flush_requests (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,           -- a later request for the same transcript takes a new one
    role        TEXT NOT NULL,
    heartbeat   TEXT NOT NULL DEFAULT '',                    -- '' in a chat
    transcript  TEXT NOT NULL,                               -- absolute path
    ended       INTEGER NOT NULL DEFAULT 0,                  -- 1 when the session is over
    asked_at    TEXT NOT NULL,                               -- ISO instant in UTC
    tries       INTEGER NOT NULL DEFAULT 0,                  -- reviews of it that were begun
    UNIQUE (role, heartbeat, transcript)
) STRICT;
