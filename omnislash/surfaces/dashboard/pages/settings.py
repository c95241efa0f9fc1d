"""`/settings`: the memory settings, which are `constitution/MANIFEST.yaml` itself; as a form, and as its text.

The page is shown in a drawer where there is a script, and is a page of its own everywhere.

As JSON: `{file, exists, hash, text, faults: [{message, hint, path, line, key, id}], groups: [{title, settings}],
kept: [{key, help}], typedText, current}`. A setting is `{key, label, kind, expects, unit, default, isRequired, minimum,
maximum, options, help, name, value, isSet, overrides, faults, id}`, with `overrides` the rows `{name, value}` that set it
for themselves, null where none can; one of kind `table` has `{rows: [{name, fields}], blank}` in place of `name`, `value`
and `isSet`. `typedText` is the text that a refused save held, else null; `current` is what the file says now where that is
another text than the refused one was made from.

Rules: DASH-07, DASH-O2, KNOB-26.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from starlette.routing import Route

from omnislash.brain.manifest import MANIFEST_FILE
from omnislash.errors import Fault, InvalidContentError, StorageError
from omnislash.runtime.manifest_editing import ManifestSave, SaveOutcome
from omnislash.surfaces.dashboard.answering import Shown, back, go, show, takes_form
from omnislash.surfaces.dashboard.desk import Mood, Notice, desk_of
from omnislash.surfaces.dashboard.settings_form import draw_form, read_sent

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from omnislash.runtime.manifest_editing import ManifestText
    from omnislash.surfaces.dashboard.forms import Form
    from omnislash.surfaces.dashboard.settings_form import Sent

_STALE: Final = (
    "Not saved: somebody changed the file since you opened it. What you typed is kept below, beside what the file says "
    "now. Look it over and save again."
)


def show_settings(request: Request) -> Response:
    """Return the settings as the file has them."""
    return _show(request, desk_of(request).brain.manifest_editor.read())


@takes_form
def save_fields(request: Request, form: Form) -> Response:
    """Save the fields that were touched."""
    editor, sent = desk_of(request).brain.manifest_editor, read_sent(form)
    if sent.faults:
        return _refuse(request, ManifestSave(outcome=SaveOutcome.REFUSED, faults=tuple(sent.faults)), sent=sent)
    done = _try(lambda: editor.save(sent.changes, expect=form.fields.get("hash", "")))
    return _lead_on(request, done) or _refuse(request, done, sent=sent)


@takes_form
def save_text(request: Request, form: Form) -> Response:
    """Save the whole text."""
    editor, text = desk_of(request).brain.manifest_editor, form.text("text")
    done = _try(lambda: editor.save_text(text, expect=form.fields.get("hash", "")))
    return _lead_on(request, done) or _refuse(request, done, text=text)


def _try(save: Callable[[], ManifestSave]) -> ManifestSave:
    """Return what came of a save; what the disk or the text refuses is a fault, so that what was typed stays."""
    try:
        return save()
    except (InvalidContentError, StorageError) as error:
        fault = Fault(error.path or MANIFEST_FILE, error.message, key=error.key)
        return ManifestSave(outcome=SaveOutcome.REFUSED, faults=(fault,))


def _lead_on(request: Request, done: ManifestSave) -> Response | None:
    """Return the answer to a save that came about; None for one that did not."""
    if done.outcome is SaveOutcome.UNCHANGED:
        return _go_back(request, Notice(Mood.PLAIN, "There was nothing to change."))
    if done.outcome is not SaveOutcome.SAVED:
        return None
    if done.is_blocked:
        text = (
            f"Saved in {MANIFEST_FILE}. It takes effect once the faults of other files are mended; Doctor names them."
        )
        return _go_back(request, Notice(Mood.PLAIN, text))
    if done.faults:
        paths = ", ".join(sorted({fault.path for fault in done.faults}))
        text = f"Saved in {MANIFEST_FILE} and in force. With it, this no longer loads: {paths}. Doctor says why."
        return _go_back(request, Notice(Mood.BAD, text))
    return _go_back(request, Notice(Mood.GOOD, f"Saved in {MANIFEST_FILE} and in force."))


def _go_back(request: Request, notice: Notice) -> Response:
    """Lead on to the page that the drawer was opened over, else to the settings."""
    path, query = back(request, "/settings")
    return go(request, "/settings", notice) if path.startswith("/settings") else go(request, path, notice, query=query)


def _refuse(request: Request, done: ManifestSave, *, sent: Sent | None = None, text: str | None = None) -> Response:
    """Return the page with what was typed and why it was not saved."""
    found = desk_of(request).brain.manifest_editor.read()
    if done.outcome is SaveOutcome.STALE:
        notice, status = Notice(Mood.BAD, _STALE), 409
    else:
        notice, status = Notice(Mood.BAD, _explain(done.faults)), 422
    return _show(request, found, sent=sent, text=text, faults=done.faults, refused=(notice, status))


def _explain(faults: Sequence[Fault]) -> str:
    if len(faults) == 1 and faults[0].line is None:
        return f"Not saved. {faults[0].message}"
    count = "one fault" if len(faults) == 1 else f"{len(faults)} faults"
    return f"Not saved, because it would not load: {count}, named below. The file stands as it was."


def _show(
    request: Request,
    found: ManifestText,
    *,
    sent: Sent | None = None,
    text: str | None = None,
    faults: Sequence[Fault] = (),
    refused: tuple[Notice, int] | None = None,
) -> Response:
    is_refused = refused is not None
    content: dict[str, Any] = {
        "file": MANIFEST_FILE,
        "exists": found.exists,
        "hash": found.hash,
        "text": found.text,
        "isReadable": found.root is not None,
        **draw_form(found.root, sent=sent, faults=faults if is_refused else found.faults),
        "typedText": text,
        "current": found.text if text is not None and text != found.text else None,
    }
    notice, status = refused or (None, 200)
    return show(request, Shown("settings.html", content, status=status, notice=notice))


ROUTES: Final[tuple[Route, ...]] = (
    Route("/settings", show_settings, methods=["GET"]),
    Route("/settings", save_fields, methods=["POST"]),
    Route("/settings/text", show_settings, methods=["GET"]),  # where a refused text leaves the browser
    Route("/settings/text", save_text, methods=["POST"]),
)
