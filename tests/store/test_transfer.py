"""A user's memory goes into a file and comes out of it, whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ctxmw import ContextMiddleware, InvalidValue, StoreError
from ctxmw.protocols import Find
from ctxmw.testing import FixedClock


def opened(folder: Path, name: str, clock: FixedClock | None = None) -> ContextMiddleware:
    return ContextMiddleware.open(folder / f"{name}.db", clock=clock or FixedClock())


def filled(ctx: ContextMiddleware, user: str | None = None) -> None:
    """Leave something of every type."""
    ctx.remember("Use spaces.", kind="preference", key="indent", user=user)
    ctx.remember("Use tabs.", kind="preference", key="indent", user=user)
    ctx.remember("Tokens live\u2028for ten minutes:\n«kurz».", kind="decision", user=user)
    chat = ctx.session("s1", project="shop", user=user)
    chat.collect("lint", "1", "Two warnings are new.")
    prepared = chat.prepare([{"role": "user", "content": "How long do tokens live?", "id": "q1"}])
    chat.finish(prepared, "Ten minutes.")
    chat.note("done", "The login works.")
    chat.observe("Fixed the login", kind="bugfix", files=["src/login.py"])
    chat.end("The login was fixed.", decisions=["Ten minutes."])


def exported(ctx: ContextMiddleware, path: Path, user: str | None = None) -> str:
    ctx.export(path, user=user)
    return path.read_text(encoding="utf-8")


class TestRoundTrip:
    def test_everything_comes_back_equal(self, tmp_path: Path) -> None:
        with opened(tmp_path, "one") as one, opened(tmp_path, "two") as two:
            filled(one)
            text = exported(one, tmp_path / "a.jsonl")
            n = two.import_(tmp_path / "a.jsonl")
            assert n == text.count("\n") - 1
            assert exported(two, tmp_path / "b.jsonl") == text
            types = {json.loads(line)["type"] for line in text.rstrip().split("\n")[1:]}
            assert types >= {"memory", "turn", "note", "observation", "summary", "session"}
            assert types >= {"context", "build", "block", "entry"}

    def test_records_of_prompts_come_back_with_their_blocks(self, tmp_path: Path) -> None:
        with opened(tmp_path, "one") as one, opened(tmp_path, "two") as two:
            filled(one)
            one.export(tmp_path / "a.jsonl")
            two.import_(tmp_path / "a.jsonl")
            before, after = one.why("Ten minutes."), two.why("Ten minutes.")
            assert before is not None
            assert after is not None
            assert after.text == before.text != ""
            assert after.explain() == before.explain()

    def test_it_is_found_and_goes_on(self, tmp_path: Path) -> None:
        with opened(tmp_path, "one") as one, opened(tmp_path, "two") as two:
            filled(one)
            one.export(tmp_path / "a.jsonl")
            two.import_(tmp_path / "a.jsonl")
            found = two.search("indent tabs")[0]
            assert found.text == "Use tabs. (was: Use spaces.)"
            assert [version.text for version in two.versions(found.ref)] == [
                "Use tabs.",
                "Use spaces.",
            ]
            chat = two.session("s1", project="shop")
            asked = [{"role": "user", "content": "And tabs?"}]
            assert "Use tabs." in chat.prepare(asked).context.text
            two.forget(found.ref)
            assert "Use tabs." not in chat.prepare(asked).context.text

    def test_for_another_user(self, tmp_path: Path) -> None:
        with ContextMiddleware.open(tmp_path / "one.db", user=None, clock=FixedClock()) as ctx:
            filled(ctx, "ada")
            ctx.remember("Bob drinks tea.", user="bob")
            text = exported(ctx, tmp_path / "a.jsonl", "ada")
            assert '"ada"' not in text
            assert "Bob" not in text
            ctx.import_(tmp_path / "a.jsonl", user="eve")
            assert exported(ctx, tmp_path / "b.jsonl", "eve") == text
            assert exported(ctx, tmp_path / "c.jsonl", "ada") == text

    async def test_twins(self, tmp_path: Path) -> None:
        with opened(tmp_path, "one") as one, opened(tmp_path, "two") as two:
            one.remember("Use tabs.")
            assert await one.aexport(tmp_path / "a.jsonl") == 1
            assert await two.aimport_(str(tmp_path / "a.jsonl")) == 1


class TestIntoAStoreThatIsNotEmpty:
    def test_twice_changes_nothing_more(self, tmp_path: Path) -> None:
        with opened(tmp_path, "one") as ctx:
            filled(ctx)
            text = exported(ctx, tmp_path / "a.jsonl")
            assert ctx.import_(tmp_path / "a.jsonl") == 0
            assert exported(ctx, tmp_path / "b.jsonl") == text

    def test_what_was_changed_since_is_kept(self, tmp_path: Path) -> None:
        clock = FixedClock()
        with opened(tmp_path, "one", clock) as ctx:
            ctx.remember("Use tabs.")
            ctx.export(tmp_path / "a.jsonl")
            clock.advance(days=1)
            assert ctx.remember("Use tabs.").seen == 2
            ctx.import_(tmp_path / "a.jsonl")
            assert [hit.record.seen for hit in ctx.search("tabs")] == [2]  # type: ignore[attr-defined]

    def test_what_is_newer_there_takes_its_place(self, tmp_path: Path) -> None:
        clock = FixedClock()
        with opened(tmp_path, "one", clock) as one, opened(tmp_path, "two", clock) as two:
            two.remember("Use spaces.", key="indent")
            clock.advance(days=1)
            one.remember("Use tabs.", key="indent")
            one.export(tmp_path / "a.jsonl")
            for _ in range(2):
                two.import_(tmp_path / "a.jsonl")
                live = two.store.query("local", Find(types=("memory",)))
                assert ["Use tabs." in row.body for row in live] == [True]

    def test_the_same_text_is_there_once(self, tmp_path: Path) -> None:
        with opened(tmp_path, "one") as one, opened(tmp_path, "two") as two:
            one.remember("Use tabs.")
            two.remember("use tabs")
            one.export(tmp_path / "a.jsonl")
            two.import_(tmp_path / "a.jsonl")
            assert len(two.search("tabs")) == 1

    def test_another_record_of_the_same_ref_is_not_overwritten(self, tmp_path: Path) -> None:
        with opened(tmp_path, "one") as one, opened(tmp_path, "two") as two:
            ref = one.remember("Use tabs.").ref
            other = two.remember("Use spaces.").ref
            one.export(tmp_path / "a.jsonl")
            text = (tmp_path / "a.jsonl").read_text(encoding="utf-8").replace(ref, other)
            (tmp_path / "a.jsonl").write_text(text, encoding="utf-8")
            with pytest.raises(InvalidValue, match=f"'{other}' is another memory here"):
                two.import_(tmp_path / "a.jsonl")
            assert [hit.text for hit in two.search("spaces tabs")] == ["Use spaces."]


class TestBrokenFiles:
    @pytest.mark.parametrize(
        "line",
        [
            "",
            "{",
            '"text"',
            "[]",
            '{"type": "memory"}',
            '{"type": "memory", "ref": "m1", "at": "2026-03-02T09:30:00Z", "body": {}}',
            '{"type": "memory", "ref": "m1", "at": "yesterday", "body": {}}',
            '{"type": "x", "ref": "x1", "at": "2026-03-02T09:30:00Z", "body": {}, "more": 1}',
        ],
    )
    def test_a_line_is_named_and_nothing_is_written(self, line: str, tmp_path: Path) -> None:
        with opened(tmp_path, "one") as one, opened(tmp_path, "two") as two:
            one.remember("Use tabs.")
            good = exported(one, tmp_path / "a.jsonl")
            (tmp_path / "a.jsonl").write_text(f"{good}{line}\n{{}}\n", encoding="utf-8")
            with pytest.raises(InvalidValue, match=r"line 3 of .*Nothing was imported"):
                two.import_(tmp_path / "a.jsonl")
            assert two.store.head("local") == 0

    @pytest.mark.parametrize("text", ["", "hello\n", '{"ctxmw": 99}\n', "null\n"])
    def test_what_is_no_export(self, text: str, tmp_path: Path) -> None:
        (tmp_path / "a.jsonl").write_text(text, encoding="utf-8")
        with opened(tmp_path, "one") as ctx, pytest.raises(InvalidValue, match="line 1"):
            ctx.import_(tmp_path / "a.jsonl")

    def test_bytes_that_are_no_text(self, tmp_path: Path) -> None:
        (tmp_path / "a.jsonl").write_bytes(b"\xff\xfe\x00")
        with opened(tmp_path, "one") as ctx, pytest.raises(InvalidValue, match="is no export"):
            ctx.import_(tmp_path / "a.jsonl")

    def test_a_file_that_is_not_there_or_cannot_be_made(self, tmp_path: Path) -> None:
        with opened(tmp_path, "one") as ctx:
            with pytest.raises(StoreError, match="cannot be read"):
                ctx.import_(tmp_path / "none.jsonl")
            with pytest.raises(StoreError, match="cannot be written"):
                ctx.export(tmp_path / "no" / "such" / "folder.jsonl")
            with pytest.raises(InvalidValue, match="path is ''"):
                ctx.export("")

    def test_an_export_that_fails_leaves_the_old_file(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with opened(tmp_path, "one") as ctx:
            ctx.remember("Use tabs.")
            text = exported(ctx, tmp_path / "a.jsonl")
            monkeypatch.setattr("ctxmw.store.part_files.os.fsync", _full_disk)
            with pytest.raises(StoreError, match="no space"):
                ctx.export(tmp_path / "a.jsonl")
            assert (tmp_path / "a.jsonl").read_text(encoding="utf-8") == text
            assert {path.name for path in tmp_path.glob("*.part")} == set()


def _full_disk(_: int) -> None:
    raise OSError("no space left on device")
