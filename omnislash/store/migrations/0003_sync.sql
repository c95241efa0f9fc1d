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
