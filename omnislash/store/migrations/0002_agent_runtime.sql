-- What the agent runtime remembers: sessions, runs of heartbeats and hooks.

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
) STRICT, WITHOUT ROWID;
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

-- Who caused an event: a hook runs on nothing that a hook did.
ALTER TABLE events ADD COLUMN heartbeat TEXT;
