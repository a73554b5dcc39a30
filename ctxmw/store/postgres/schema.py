"""The tables of the Postgres store, made by numbered migrations.

A migration is a list of statements. It runs in one transaction together with its own record, under
an advisory lock, so that many processes may open a new store at once. A migration that was released
is never changed: add the next.

Every table that holds somebody's data has a row-level policy: a transaction sees the rows of the
one owner it has named (`ctxmw.owner`), and none when it has named nobody. The policies hold for
the owner of the tables too; only a superuser passes them by.
"""

from __future__ import annotations

_MINE = "owner = nullif(current_setting('ctxmw.owner', true), '')::uuid"


def policy(table: str) -> tuple[str, ...]:
    """Return the statements by which a transaction sees the rows of one owner only."""
    return (
        f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY",
        f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY",
        f"CREATE POLICY own_rows ON {table} USING ({_MINE}) WITH CHECK ({_MINE})",
    )


def _function(name: str, body: str) -> str:
    return f"""CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql
        SET search_path FROM CURRENT AS $$ BEGIN {body} RETURN NULL; END $$"""


def _trigger(name: str, event: str, body: str) -> tuple[str, str]:
    old = "" if event == "INSERT" else "OLD TABLE AS old_rows "
    new = "" if event == "DELETE" else "NEW TABLE AS new_rows "
    return (
        _function(name, body),
        f"""CREATE TRIGGER {name} AFTER {event} ON records REFERENCING {old}{new}
            FOR EACH STATEMENT EXECUTE FUNCTION {name}()""",
    )


ROWS_AND_CHANGES = (
    # Tells this store from any other, wherever it is restored to.
    "CREATE TABLE about (identity uuid NOT NULL)",
    "INSERT INTO about (identity) VALUES (gen_random_uuid())",
    # `owner` is made from the name, so it needs no asking; `seq` is the owner's newest position in
    # the changes feed. Whoever writes moves it on and holds it until the commit: the order of
    # positions is the order of commits, and nothing appears behind a reader who has gone on.
    "CREATE TABLE owners (owner uuid PRIMARY KEY, name text NOT NULL, seq bigint NOT NULL)",
    """CREATE TABLE records (
        owner uuid NOT NULL, seq bigint NOT NULL, at timestamptz NOT NULL, live boolean NOT NULL,
        ref text NOT NULL, type text NOT NULL, session text NOT NULL, key text NOT NULL,
        digest text NOT NULL, scope text NOT NULL, source text NOT NULL,
        search_text text NOT NULL, words tsvector, body text NOT NULL,
        PRIMARY KEY (owner, ref)
    )""",
    "CREATE INDEX records_by_time ON records (owner, at, seq)",
    "CREATE INDEX records_by_type ON records (owner, type, live, at, seq)",
    """CREATE INDEX records_by_session ON records (owner, session, type, live, at, seq)
        WHERE session <> ''""",
    "CREATE INDEX records_by_key ON records (owner, key) WHERE key <> ''",
    "CREATE INDEX records_by_digest ON records (owner, digest) WHERE digest <> ''",
    "CREATE INDEX records_by_seq ON records (owner, seq)",
    # No index over `words`: the policy has to be asked before an operator that could tell about
    # rows it looks at, and those of full-text search are such. The owner's rows are searched.
    """CREATE TABLE gone (
        owner uuid NOT NULL, ref text NOT NULL, type text NOT NULL, seq bigint NOT NULL,
        PRIMARY KEY (owner, ref)
    )""",
    "CREATE INDEX gone_by_seq ON gone (owner, seq)",
    *_trigger(
        "record_came_back",
        "INSERT",
        """DELETE FROM gone USING new_rows AS fresh
            WHERE gone.owner = fresh.owner AND gone.ref = fresh.ref;""",
    ),
    *_trigger(
        "record_deleted",
        "DELETE",
        """WITH counted AS (SELECT owner, count(*) AS n FROM old_rows GROUP BY owner),
            heads AS (
                UPDATE owners SET seq = owners.seq + n FROM counted
                WHERE owners.owner = counted.owner RETURNING owners.owner, owners.seq - n AS seq
            )
        INSERT INTO gone (owner, ref, type, seq)
            SELECT stale.owner, stale.ref, stale.type,
                heads.seq + row_number() OVER (PARTITION BY stale.owner ORDER BY stale.seq)
            FROM old_rows AS stale JOIN heads ON heads.owner = stale.owner;""",
    ),
    *(statement for table in ("owners", "records", "gone") for statement in policy(table)),
    # Whoever moves a whole store says so, and sees the names of all; their rows one after another.
    """CREATE POLICY every_name ON owners FOR SELECT
        USING (current_setting('ctxmw.every_name', true) = 'on')""",
)

_OUTDATED = """DELETE FROM blobs USING old_rows AS stale{join} WHERE blobs.owner = stale.owner
    AND (blobs.ref = stale.ref OR blobs.ref = '*' AND stale.search_text <> ''){changed};"""

BLOBS_OF_ROWS = (
    """CREATE TABLE blobs (
        owner uuid NOT NULL, space text NOT NULL, ref text NOT NULL, data bytea NOT NULL,
        PRIMARY KEY (owner, space, ref)
    )""",
    # Vectors do not get smaller: trying costs more than it saves.
    "ALTER TABLE blobs ALTER COLUMN data SET STORAGE EXTERNAL",
    "CREATE INDEX blobs_by_ref ON blobs (owner, ref)",
    *_trigger("blobs_of_deleted", "DELETE", _OUTDATED.format(join="", changed="")),
    *_trigger(
        "blobs_of_changed",
        "UPDATE",
        _OUTDATED.format(
            join=" JOIN new_rows AS fresh ON fresh.owner = stale.owner AND fresh.ref = stale.ref",
            changed=""" AND (stale.search_text <> fresh.search_text
                OR stale.live AND NOT fresh.live)""",
        ),
    ),
    *policy("blobs"),
)

# What is made from all rows outlives a row that becomes history: its text is still there, and the
# feed tells of the change.
COPIES_OUTLIVE_HISTORY = (
    _function(
        "blobs_of_changed",
        """DELETE FROM blobs USING old_rows AS stale
            JOIN new_rows AS fresh ON fresh.owner = stale.owner AND fresh.ref = stale.ref
        WHERE blobs.owner = stale.owner AND (
            blobs.ref = stale.ref AND (
                stale.search_text <> fresh.search_text OR stale.live AND NOT fresh.live
            ) OR blobs.ref = '*' AND stale.search_text NOT IN ('', fresh.search_text)
        );""",
    ),
)

MIGRATIONS: dict[int, tuple[str, tuple[str, ...]]] = {
    1: ("rows_and_changes", ROWS_AND_CHANGES),
    2: ("blobs_of_rows", BLOBS_OF_ROWS),
    3: ("copies_outlive_history", COPIES_OUTLIVE_HISTORY),
}
LATEST = max(MIGRATIONS)
